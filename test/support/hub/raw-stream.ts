import net from 'node:net'
import { onTestFinished } from 'vitest'

/** A connection whose bytes are seen as they come. */
export interface RawStream {
  readonly socket: net.Socket
  /** Everything received so far, as Latin-1. */
  text(): string
  /** Resolves with the text once it holds `part`. @throws when the connection ends first */
  until(part: string): Promise<string>
  /** Resolves with the text once the server has closed. */
  readonly closed: Promise<string>
}

/** Connects to a port of 127.0.0.1 and sends these lines as the head of a request, then `body`. */
export function openRaw(port: number, lines: readonly string[], body = ''): RawStream {
  let received = ''
  let over = false
  let wake: (() => void)[] = []
  const changed = (): void => {
    const waiting = wake
    wake = []
    for (const resolve of waiting) resolve()
  }
  const socket = net.connect(port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    changed()
  })
  // A reset is an end like any other; `close` follows.
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      over = true
      changed()
      resolve(received)
    })
  })
  const until = async (part: string): Promise<string> => {
    let searched = 0
    // Only what is new is searched: a stream may be many megabytes long.
    for (let from = 0; !received.includes(part, from); from = Math.max(0, searched - part.length)) {
      searched = received.length
      if (over) throw new Error(`the connection ended before ${JSON.stringify(part)}: ${received}`)
      await new Promise<void>((resolve) => wake.push(resolve))
    }
    return received
  }
  return { socket, text: () => received, until, closed }
}

/** The content of a chunked body (RFC 9112 section 7.1) as far as it has come. */
export function unchunked(text: string): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4)
  let content = ''
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest)
    const length = Number.parseInt(size?.[1] ?? '0', 16)
    if (size === null || length === 0) return content
    content += rest.slice(size[0].length, size[0].length + length)
    rest = rest.slice(size[0].length + length + 2)
  }
}
