import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import express, { type Request, type Response } from 'express'
import { HttpError, type HttpErrorCode } from './errors.ts'
import { nestsDeeperThan } from './nesting.ts'
import { holdsHugeNumber } from './numbers.ts'

/** Deeper values overflow the stack of whoever writes them out. design.md, "Decisions the seed leaves open". */
const MAX_JSON_LEVELS = 1000
const BYTE_ORDER_MARK = 0xfeff
/** JSON is UTF-8 (RFC 8259 §8.1); ASCII is a part of it. */
const CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii'])

/** What went wrong in the library that unpacks compressed bodies, by the name it gives the fault. */
const UNPACK_FAULTS = new Map<string, HttpErrorCode>([
  ['entity.too.large', 'body_too_large'],
  ['encoding.unsupported', 'unsupported_encoding'],
  ['request.aborted', 'body_incomplete'],
  ['request.size.invalid', 'body_incomplete'],
])

function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length']
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

function checkCharset(type: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type ?? '')?.[1]
  if (charset !== undefined && !CHARSETS.has(charset.toLowerCase())) throw new HttpError('not_utf8')
}

/** Collects the bytes of a body, up to `maxBytes`. What comes after a refusal is left for Node to discard. */
function collect(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) {
        chunks.push(chunk)
        return
      }
      req.off('data', onData)
      req.resume()
      reject(new HttpError('body_too_large'))
    }
    const onEnd = () => {
      // A request that is whole closes too; an error made for nothing would cost a stack trace a request.
      req.off('close', onCut)
      const only = chunks[0]
      resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks))
    }
    const onCut = () => reject(new HttpError('body_incomplete'))
    req.on('data', onData)
    // Each comes once; the wrapper of "once" would be the dearest part of it.
    req.on('end', onEnd)
    req.on('error', onCut)
    req.on('close', onCut)
  })
}

/** Reads a compressed body; the limit holds for what comes out, so that a small bomb stays small. */
function unpack(req: Request, res: Response, maxBytes: number): Promise<Buffer> {
  const read = express.raw({ limit: maxBytes, type: () => true })
  return new Promise((resolve, reject) => {
    read(req, res, (fault?: unknown) => {
      if (fault === undefined) {
        resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))
        return
      }
      const type = fault instanceof Error && 'type' in fault ? String(fault.type) : ''
      // What remains is damaged compressed data: the client's fault as well.
      reject(new HttpError(UNPACK_FAULTS.get(type) ?? 'unsupported_encoding'))
    })
  })
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw Object.assign(new HttpError('malformed_json'), { cause })
  }
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new HttpError('not_utf8')
  const decoded = bytes.toString('utf8')
  const text = decoded.charCodeAt(0) === BYTE_ORDER_MARK ? decoded.slice(1) : decoded
  if (nestsDeeperThan(text, MAX_JSON_LEVELS)) throw new HttpError('nested_too_deep')
  const value = parseText(text)
  if (holdsHugeNumber(text)) throw new HttpError('number_out_of_range')
  return value
}

/**
 * Reads the JSON body of a request, whatever media type it claims: the broker's clients send JSON only, and
 * send its type even with no body. `undefined` when there is none.
 * @throws HttpError 400 for what is no JSON in UTF-8, 413 above `maxBytes`
 */
export async function readJson(req: Request, res: Response, maxBytes: number): Promise<unknown> {
  if (!hasBody(req)) return undefined
  checkCharset(req.headers['content-type'])
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw new HttpError('body_too_large')
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase()
  const bytes =
    encoding === 'identity' ? await collect(req, maxBytes) : await unpack(req, res, maxBytes)
  return bytes.length === 0 ? undefined : parse(bytes)
}
