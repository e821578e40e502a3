/** `windowEnd` of a JSON object, in ms; null when the value is of another form. Queue API 15.2. */
export function windowEndOf(text: string): number | null {
  // Most state has no window; looking at the text first spares reading it.
  if (!text.includes('"windowEnd"')) return null
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  if (!('windowEnd' in value) || typeof value.windowEnd !== 'number') return null
  return value.windowEnd
}
