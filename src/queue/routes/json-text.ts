/**
 * An object as JSON text with members whose values are JSON text already, such as stored payloads: they are
 * put in as they are, without being read and written again.
 */
export function jsonWith(
  members: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
): string {
  const parts = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  const head = JSON.stringify(members).slice(0, -1)
  return `${head}${head === '{' ? '' : ','}${parts.join(',')}}`
}
