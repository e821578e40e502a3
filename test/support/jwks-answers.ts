import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Jwk } from './keys.ts'

/** What the key server does with one request; it may answer, stall, or cut the line. */
export type JwksAnswer = (req: IncomingMessage, res: ServerResponse) => void

/** One mebibyte: the cap of the key-set body in the seed ("A JWKS endpoint"). */
export const MEBIBYTE = 1_048_576

/** Answers `status` with this body; `type` is the media type. */
export function bodyAnswer(body: string, status = 200, type = 'application/json'): JwksAnswer {
  return (_req, res) => {
    res.writeHead(status, { 'content-type': type }).end(body)
  }
}

/** A JWK set of these keys. */
export function keysAnswer(keys: readonly Jwk[], extra: Jwk = {}): JwksAnswer {
  return bodyAnswer(JSON.stringify({ ...extra, keys }))
}

/** An error status with a JSON body. */
export function statusAnswer(status: number): JwksAnswer {
  return bodyAnswer('{"error":"scripted"}', status)
}

/** Takes the request and never answers. */
export const silentAnswer: JwksAnswer = () => {}

/** Sends the head at once and never the body. */
export const stalledBodyAnswer: JwksAnswer = (_req, res) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  res.flushHeaders()
}

/** Sends a good head and then one byte every 20 ms, without end. */
export const dripAnswer: JwksAnswer = (_req, res) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => res.write(' '), 20)
  res.on('close', () => clearInterval(timer))
}

/** Sends the head itself one byte every 20 ms, so that it is never complete. */
export const slowHeadersAnswer: JwksAnswer = (req) => {
  const { socket } = req
  socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
  const timer = setInterval(() => socket.write('x'), 20)
  socket.on('close', () => clearInterval(timer))
}

/** Compresses a body of `bytes` (the set, padded) if the client takes gzip; else sends the set as it is. */
export function gzippedAnswer(keys: readonly Jwk[], bytes: number): JwksAnswer {
  return (req, res) => {
    if (!/gzip/.test(String(req.headers['accept-encoding'] ?? ''))) {
      keysAnswer(keys)(req, res)
      return
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    res.writeHead(200, headers).end(gzipSync(paddedSet(keys, bytes)))
  }
}

/** Compresses a padded set of `bytes` whether the client takes gzip or not. */
export function forcedGzipAnswer(keys: readonly Jwk[], bytes: number): JwksAnswer {
  return (_req, res) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    res.writeHead(200, headers).end(gzipSync(paddedSet(keys, bytes)))
  }
}

/** Closes the connection without an answer. */
export const resetAnswer: JwksAnswer = (req) => {
  req.socket.resetAndDestroy()
}

/** Promises a long body and closes in the middle of it. */
export const truncatedAnswer: JwksAnswer = (req, res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  res.write('{"keys":[', () => req.socket.destroy())
}

/** Sends the client elsewhere; `status` is 301, 302, 303, 307 or 308. */
export function redirectAnswer(location: string, status = 302): JwksAnswer {
  return (_req, res) => {
    res.writeHead(status, { location }).end()
  }
}

/** A key set padded with white space to exactly `bytes`. */
function paddedSet(keys: readonly Jwk[], bytes: number): Buffer {
  const body = Buffer.alloc(bytes, ' ')
  body.write(JSON.stringify({ keys }))
  return body
}

/** A key set of exactly `bytes` bytes, announced by Content-Length. */
export function sizedAnswer(keys: readonly Jwk[], bytes: number): JwksAnswer {
  return (_req, res) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes) }
    res.writeHead(200, headers).end(paddedSet(keys, bytes))
  }
}

/** A key set of exactly `bytes` bytes in chunks, so that no header tells its size. */
export function chunkedAnswer(keys: readonly Jwk[], bytes: number): JwksAnswer {
  return (_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    const body = paddedSet(keys, bytes)
    for (let at = 0; at < bytes; at += 65_536) res.write(body.subarray(at, at + 65_536))
    res.end()
  }
}

/** White space in chunks for as long as the client reads. */
export const endlessAnswer: JwksAnswer = (_req, res) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(65_536, ' ')
  const more = () => {
    while (!res.destroyed && res.write(chunk));
  }
  res.on('drain', more)
  more()
}

/** 406 unless `Accept` lists `application/jwk-set+json`; then the set with that type (case A64). */
export function negotiatedAnswer(keys: readonly Jwk[]): JwksAnswer {
  const type = 'application/jwk-set+json'
  return (req, res) => {
    const accepted = (req.headers.accept ?? '').split(',').map((part) => part.split(';')[0]?.trim())
    const answer = accepted.includes(type)
      ? bodyAnswer(JSON.stringify({ keys }), 200, type)
      : statusAnswer(406)
    answer(req, res)
  }
}

/** Holds every request until `release()`; then each gets `answer`. */
export function heldAnswer(answer: JwksAnswer): { answer: JwksAnswer; release(): void } {
  const waiting: (() => void)[] = []
  let open = false
  return {
    answer(req, res) {
      if (open) answer(req, res)
      else waiting.push(() => answer(req, res))
    },
    release() {
      open = true
      for (const go of waiting.splice(0)) go()
    },
  }
}
