import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { headerValues } from './raw-headers.ts'
import { connectionEvent, guardSlowReaders } from './slow-readers.ts'

/** A token of 32 KiB and the other headers must fit (design.md, "Sizes"). */
const MAX_HEADER_BYTES = 65_536
/** Time for the head of a request; a client that drips it gives up its socket. */
const HEAD_TIMEOUT_MS = 20_000
/** Time for a whole request, its body included. A waiting pop has been read in full, so this never cuts it. */
const READ_TIMEOUT_MS = 300_000
/** Longer than the poll of 30 s after which the broker's clients come back on the same socket. */
const KEEP_ALIVE_MS = 75_000
const CHECK_INTERVAL_MS = 5000
/** Time without any progress in writing an answer. */
const WRITE_STALL_MS = 60_000

/** Time limits in ms; tests make them short. */
export interface ListenerLimits {
  readonly headTimeoutMs?: number
  readonly readTimeoutMs?: number
  readonly checkIntervalMs?: number
  readonly writeStallMs?: number
}

/** What Node says about a request that never became one, as an answer. */
const FACES = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    { line: '431 Request Header Fields Too Large', text: 'Headers too large' },
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', { line: '408 Request Timeout', text: 'Request Timeout' }],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { line: '413 Payload Too Large', text: 'The body is too large' },
  ],
])
const BAD_REQUEST = { line: '400 Bad Request', text: 'Bad Request' }

/** Whether an answer has begun on this connection: a second one in the middle of it would be read as its body. */
function isAnswering(socket: Duplex): boolean {
  const answer: unknown = Reflect.get(socket, '_httpMessage')
  return answer instanceof ServerResponse && answer.headersSent
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy(error)
    return
  }
  const { line, text } = FACES.get(error.code ?? '') ?? BAD_REQUEST
  const body = JSON.stringify({ error: text })
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Access-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n${body}`,
  )
  // Requests before it that still wait for their answer never get one: they must hear of it.
  if (socket instanceof Socket) socket.destroySoon()
}

function refuseRequest(res: ServerResponse, status: number): void {
  const body = JSON.stringify({ error: STATUS_CODES[status] })
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Access-Control-Allow-Origin': '*',
    Connection: 'close',
  })
  res.end(body)
}

/** RFC 9112 section 3.2: one `Host`, which HTTP/1.0 may leave out. Two could be read in two ways. */
function namesOneHost(req: IncomingMessage): boolean {
  const hosts = headerValues(req.rawHeaders, 'host').length
  return hosts === 1 || (hosts === 0 && req.httpVersion === '1.0')
}

/**
 * True for a target that a router can read. From one that is no URL Express reads no path at all: it would skip
 * every layer, the gate and the request log among them, and answer with a page of its own.
 */
function isReadable(target: string): boolean {
  return target.startsWith('/') || target === '*' || URL.canParse(target)
}

/** A certificate chain and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** A server that listens with TLS can take a new certificate without dropping anyone. */
export type Listener = HttpServer | HttpsServer

/**
 * RFC 9110 section 10.1.1: a client that asks first is told to send its body when somebody begins to read it. One that
 * is refused before that, by the gate or for the length it announces, never sends it.
 */
function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  req.once('resume', () => {
    // Node drains what nobody read once the answer is out.
    if (!res.headersSent) res.writeContinue()
  })
}

/** Connections of a server on which no request has begun yet. */
const silent = new WeakMap<Listener, Set<Socket>>()

function watchSilent(server: Listener): void {
  const sockets = new Set<Socket>()
  silent.set(server, sockets)
  server.on(connectionEvent(server), (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', ({ socket }) => sockets.delete(socket))
}

/** Closes the connections on which no request has begun: Node does not count them among the idle ones. */
export function closeSilent(server: Listener): void {
  for (const socket of silent.get(server) ?? []) socket.destroy()
}

/**
 * Makes the server of an app, not yet listening: limits against slow clients that never cut a long poll.
 * With `tls` it speaks HTTPS and nothing else.
 */
export function createListener(
  app: RequestListener,
  limits: ListenerLimits = {},
  tls?: TlsFiles,
): Listener {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headTimeoutMs ?? HEAD_TIMEOUT_MS,
    requestTimeout: limits.readTimeoutMs ?? READ_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's own check answers without a body; namesOneHost takes its place.
    requireHostHeader: false,
    connectionsCheckingInterval: limits.checkIntervalMs ?? CHECK_INTERVAL_MS,
  }
  const serve: RequestListener = (req, res) =>
    namesOneHost(req) && isReadable(req.url ?? '') ? app(req, res) : refuseRequest(res, 400)
  const server: Listener =
    tls === undefined
      ? createServer(options, serve)
      : createTlsServer({ ...options, ...tls }, serve)
  server.on('checkContinue', (req, res) => {
    continueWhenRead(req, res)
    serve(req, res)
  })
  server.on('checkExpectation', (_req, res) => refuseRequest(res, 417))
  server.on('clientError', refuse)
  watchSilent(server)
  guardSlowReaders(server, limits.writeStallMs ?? WRITE_STALL_MS)
  return server
}

/**
 * Gives a TLS listener a new certificate: new connections get it, open ones go on under the old one.
 * @throws Error when the two do not fit; the old certificate then stays
 */
export function renewCertificate(server: Listener, tls: TlsFiles): void {
  if (server instanceof TlsServer) server.setSecureContext({ ...tls })
}
