/**
 * True for text that the database can hold as it is. Nothing else can be stored, so nothing else can be found:
 * a half surrogate would be sent as another character and find what belongs to that.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
