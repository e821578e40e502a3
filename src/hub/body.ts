import type { IncomingMessage } from 'node:http'
import { HubRefusal } from './answers.ts'
import { HubRequestError } from './errors.ts'

/**
 * Reads a whole request body; more than `maxBytes` (0 = no limit) is refused as soon as it is known,
 * from the length the client states or from what has come so far.
 * A content coding is refused: read as plain it would be another message, or none (RFC 9110 section 15.5.16).
 * @throws HubRefusal 413 and 415, HubRequestError 400 when the client breaks off
 */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return Promise.reject(new HubRefusal(415, { 'Accept-Encoding': 'identity' }))
  }
  const limit = maxBytes > 0 ? maxBytes : Number.POSITIVE_INFINITY
  if (Number(req.headers['content-length'] ?? 0) > limit) {
    return Promise.reject(new HubRefusal(413))
  }
  if (req.readableEnded) {
    return Promise.reject(new Error('the hub has to be mounted before any body parser'))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const take = (chunk: Buffer): void => {
      length += chunk.length
      if (length <= limit) {
        chunks.push(chunk)
        return
      }
      // The rest is read and thrown away: a client that still sends would never see an answer.
      req.off('data', take).resume()
      reject(new HubRefusal(413))
    }
    const broken = (): void => reject(new HubRequestError('body_incomplete', 'body: incomplete'))
    req.on('data', take)
    req.once('end', () => resolve(Buffer.concat(chunks)))
    req.once('error', broken)
    req.once('close', broken)
  })
}
