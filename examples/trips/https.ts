import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'

/** One HTTPS request of the example; `ca` is the certificate that stands in for a public authority. */
export interface HttpsRequest {
  readonly url: string
  readonly ca: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** Sends a request and answers as soon as the head is there; the body is still to be read. */
export function send({ url, ca, body, method = 'GET', headers = {}, signal }: HttpsRequest) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers, ca, ...(signal && { signal }) }
    const req = request(url, options, resolve)
    req.once('error', reject)
    req.end(body)
  })
}

/** Reads the whole body as text. */
export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
