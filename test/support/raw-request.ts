import net from 'node:net'

/** An answer as it came over the wire. */
export interface RawAnswer {
  /** 0 when the server closed without an answer. */
  readonly status: number
  readonly statusLine: string
  /** Lower-case names with their values, in order, duplicates kept. */
  readonly headers: readonly (readonly [string, string])[]
  /** The body bytes as text; chunk framing is left in. */
  readonly body: string
  header(name: string): string | undefined
}

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = (end < 0 ? text : text.slice(0, end)).split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return {
    status: Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(statusLine)?.[1] ?? 0),
    statusLine,
    headers,
    body: end < 0 ? '' : text.slice(end + 4),
    header: (name) => headers.find(([known]) => known === name)?.[1],
  }
}

/** Sends these bytes, unchanged, to a port of 127.0.0.1 and reads until the server closes. */
export function rawBytes(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    const done = () => resolve(parse(Buffer.concat(chunks).toString('latin1')))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', done)
    // A server may refuse with an answer and a reset: what it said still counts.
    socket.on('error', (error) => (chunks.length > 0 ? done() : reject(error)))
  })
}

/** One request for `rawRequest`; `target` and header lines go out exactly as given. */
export interface RawRequest {
  readonly method?: string
  readonly target: string
  /** Whole header lines without line ends, such as `Authorization: Bearer x`. */
  readonly headers?: readonly string[]
  readonly body?: string
}

/** Sends one HTTP/1.1 request that no client library has normalised. */
export function rawRequest(port: number, request: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', target, headers = [], body = '' } = request
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers]
  if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return rawBytes(port, `${lines.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Sends GET requests over one connection without waiting in between (pipelining), and reads the
 * status of each answer; `heads` are the header lines of each request.
 */
export function pipelined(
  port: number,
  target: string,
  heads: readonly (readonly string[])[],
): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const last = heads.length - 1
    const requests = heads.map((headers, i) =>
      [
        `GET ${target} HTTP/1.1`,
        'Host: x',
        ...headers,
        ...(i === last ? ['Connection: close'] : []),
      ]
        .join('\r\n')
        .concat('\r\n\r\n'),
    )
    let text = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(requests.join('')))
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      resolve([...text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map((found) => Number(found[1])))
    })
  })
}
