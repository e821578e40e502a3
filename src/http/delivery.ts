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

const WATCH = Symbol('watch')

/** What is known of the end of one answer; it hangs on the answer, so that all who ask share two listeners. */
class Watch {
  readonly #socket: Socket
  readonly #told: ((delivered: boolean) => void)[] = []
  #delivered = false
  #over = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  add(over: (delivered: boolean) => void): void {
    this.#told.push(over)
  }

  finish(): void {
    // Node says "finished" of an answer that a cut connection swallowed, too.
    this.#delivered = !this.#socket.destroyed
  }

  end(): void {
    if (this.#over) return
    this.#over = true
    for (const over of this.#told) over(this.#delivered)
  }
}

type Watched = ServerResponse & { [WATCH]?: Watch }

function finished(this: Watched): void {
  this[WATCH]?.finish()
}

function closed(this: Watched): void {
  this[WATCH]?.end()
}

function watchOf(req: IncomingMessage, res: Watched): Watch {
  const known = res[WATCH]
  if (known !== undefined) return known
  const made = new Watch(req.socket)
  res[WATCH] = made
  res.on('finish', finished)
  res.on('close', closed)
  // Behind another request an answer has no connection yet, and would not hear of its end.
  if (res.socket === null)
    res.on(
      'close',
      onClose(req.socket, () => made.end()),
    )
  return made
}

/**
 * Calls back once when an answer is over: with true when all of it was handed to the network, with false when its
 * client went away before. What the network does with it afterwards nobody learns. To be called before the answer
 * has begun.
 */
export function whenOver(
  req: IncomingMessage,
  res: ServerResponse,
  over: (delivered: boolean) => void,
): void {
  watchOf(req, res).add(over)
}
