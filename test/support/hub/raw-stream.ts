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

/** Longest text that `until` looks for. */
const LONGEST_PART = 1000

/** Connects to a port of 127.0.0.1 and sends these lines as the head of a request, then `body`. */
export function openRaw(port: number, lines: readonly string[], body = ''): RawStream {
  const received: string[] = []
  // The newest bytes; a stream may be many megabytes long, and only what is new has to be searched.
  let recent = ''
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
    const text = chunk.toString('latin1')
    received.push(text)
    recent = recent.slice(-LONGEST_PART) + text
    changed()
  })
  // A reset is an end like any other; `close` follows.
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      over = true
      changed()
      resolve(received.join(''))
    })
  })
  const until = async (part: string): Promise<string> => {
    for (let found = received.join('').includes(part); !found; found = recent.includes(part)) {
      if (over) throw new Error(`the connection ended before ${JSON.stringify(part)}`)
      await new Promise<void>((resolve) => wake.push(resolve))
    }
    return received.join('')
  }
  return { socket, text: () => received.join(''), until, closed }
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
