const ZONE = /(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})\)?\s*$/i
const DATE_ONLY = /^\s*[+-]?[0-9]{4,6}(?:-[0-9]{2}){0,2}\s*$/
const FINE_FRACTION = /\.[0-9]{3}([0-9]{1,3})/

/** Reads what Date can parse; text that names no zone is UTC. */
function parseMs(text: string): number {
  if (ZONE.test(text) || DATE_ONLY.test(text)) return Date.parse(text)
  const asIso = Date.parse(`${text.trim()}Z`)
  return Number.isNaN(asIso) ? Date.parse(`${text} UTC`) : asIso
}

/**
 * Microseconds since 1970 from a timestamp of a request, or null when it cannot be read. ISO-8601 and
 * anything else that Date takes; a value without a zone is UTC; six digits are kept. Queue API 1.4.
 */
export function parseTimestampUs(text: string): number | null {
  const ms = parseMs(text)
  if (!Number.isFinite(ms)) return null
  const extra = FINE_FRACTION.exec(text)?.[1] ?? '0'
  return ms * 1000 + Number(extra.padEnd(3, '0'))
}
