import type { ServerResponse } from 'node:http'

/** The only media type of JSON replies; the client reads no other. Queue API page, section 1.1. */
const JSON_TYPE = 'application/json'

/** Answers JSON text that is already made, such as a pop reply spliced from stored payloads. */
export function answerJsonText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) })
  res.end(text)
}

/** Answers one JSON value. */
export function answerJson(res: ServerResponse, status: number, body: unknown): void {
  answerJsonText(res, status, JSON.stringify(body))
}

/**
 * Answers 204. RFC 9110 §15.3.5: no body, and no header that describes one; a 204 that carries bytes makes
 * fetch drop the connection.
 */
export function answerNothing(res: ServerResponse): void {
  res.writeHead(204)
  res.end()
}
