/**
 * Reads a stream of server-sent events (HTML standard, section 9.2) from a fetch response. EventSource
 * cannot send a token in a header, and hides the response headers.
 */
export async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let event = blank()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (line !== '') {
        addLine(event, line)
        continue
      }
      if (event.data.length > 0) yield { ...event, data: event.data.join('\n') }
      event = blank()
    }
  }
}

function blank() {
  return { type: 'message', id: '', data: [] }
}

function addLine(event, line) {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (name === 'data') event.data.push(value)
  else if (name === 'event') event.type = value
  else if (name === 'id') event.id = value
}
