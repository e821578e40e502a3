import type { Server } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

/** The watch looks this many times within one stall limit, so that a socket is let go well before it ends. */
const LOOKS_PER_LIMIT = 4

/** What a server emits with each connection on which requests come; under TLS it is the encrypted socket. */
export function connectionEvent(server: Server | HttpsServer): 'connection' | 'secureConnection' {
  return server instanceof TlsServer ? 'secureConnection' : 'connection'
}

/**
 * Cuts connections whose client stops reading its answer: `stallMs` without any progress. Sockets with nothing
 * left to write are left alone, so a waiting pop or a quiet event stream is never cut.
 */
export function guardSlowReaders(server: Server | HttpsServer, stallMs: number): void {
  const sockets = new Set<Socket>()
  const watched = new Set<Socket>()
  server.on(connectionEvent(server), (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      watched.delete(socket)
    })
  })
  const look = () => {
    for (const socket of sockets) {
      const writing = socket.writableLength > 0
      if (writing && !watched.has(socket)) {
        watched.add(socket)
        // Node looks at the write queue when this fires and waits on while it shrinks.
        socket.setTimeout(stallMs)
      } else if (!writing && watched.delete(socket)) socket.setTimeout(0)
    }
  }
  const timer = setInterval(look, Math.ceil(stallMs / LOOKS_PER_LIMIT))
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
