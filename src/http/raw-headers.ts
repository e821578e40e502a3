/**
 * The values of one header, in the order they were sent. Node keeps only the first of several in `headers` for some
 * names and joins them for others, so that the raw list is read where a second one matters.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at]
    // Most names differ in length already, which costs less than their lower case.
    if (other?.length !== name.length || other.toLowerCase() !== name) continue
    values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}
