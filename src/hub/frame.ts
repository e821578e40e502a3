import type { Update } from './store.ts'

/** What ends a line of an event stream. U+2028, NEL, VT and FF do not: they are ordinary characters. */
const LINE_END = /\r\n|\r|\n/

/** The comment that opens a stream and keeps it alive. */
export const COMMENT = Buffer.from(':\n')

/**
 * The bytes of one event: `event`, `retry`, `id`, then one `data` line per line of the data, then an
 * empty line. Every line of the data gets its own prefix, so that no published text can add a field.
 */
export function eventFrame(update: Update): Buffer {
  const lines = [
    ...(update.type === undefined ? [] : [`event: ${update.type}`]),
    ...(update.retry === undefined ? [] : [`retry: ${update.retry}`]),
    `id: ${update.id}`,
    ...update.data.split(LINE_END).map((line) => `data: ${line}`),
  ]
  return Buffer.from(`${lines.join('\n')}\n\n`)
}
