import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Who wants to hear of the end of a connection; one listener for all, because a client may pipeline hundreds. */
const listeners = new WeakMap<Socket, Set<() => void>>()

/** Calls back when the connection closes; answers a function that takes it back. */
function onClose(socket: Socket, act: () => void): () => void {
  let acts = listeners.get(socket)
  if (acts === undefined) {
    const all = new Set<() => void>()
    acts = all
    listeners.set(socket, all)
    socket.once('close', () => {
      for (const one of all) one()
    })
  }
  acts.add(act)
  return () => acts.delete(act)
}

/**
 * Calls back once when an answer is over: with true when all of it was handed to the network, with false when its
 * client went away before. What the network does with it afterwards nobody learns.
 */
export function whenOver(
  req: IncomingMessage,
  res: ServerResponse,
  over: (delivered: boolean) => void,
): void {
  const { socket } = req
  let delivered = false
  let told = false
  const end = () => {
    if (told) return
    told = true
    over(delivered)
  }
  res.on('finish', () => {
    // Node says "finished" of an answer that a cut connection swallowed, too.
    delivered = !socket.destroyed
  })
  res.on('close', end)
  if (res.socket !== null) return
  // Behind another request an answer has no connection yet, and would not hear of its end.
  const forget = onClose(socket, end)
  res.on('close', forget)
}
