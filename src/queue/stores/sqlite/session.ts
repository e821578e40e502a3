import type { DatabaseSync } from 'node:sqlite'
import type { StoreSession } from '../../../storage/index.ts'
import type { ReadKind, StoreNote, Wake, WriteKind, Writes } from '../../store.ts'
import { Acker } from './ack.ts'
import { Appender } from './append.ts'
import { configure } from './configure.ts'
import { Context, type QueueStoreOptions } from './context.ts'
import { DeadLetterFile } from './dead-letters.ts'
import { DlqDesk } from './dlq.ts'
import { GroupDesk } from './groups.ts'
import { jobHandler } from './jobs/index.ts'
import { LeaseDesk } from './leases.ts'
import { opsWriteHandlers } from './ops/index.ts'
import { Popper } from './pop.ts'
import { type ReadHandlers, readHandlers } from './reads/index.ts'
import { Remover } from './removal.ts'
import { Seeker } from './seek.ts'
import { streamWriteHandlers } from './streams/index.ts'
import { SubscriptionTable } from './subscriptions.ts'
import { Transactor } from './transaction.ts'
import { fromWire, pushAnswerRow, type WireOp } from './wire.ts'

/** What one write answers across the thread; as short as can be, because a busy broker reads thousands a second. */
export interface WriteAnswer {
  readonly value: unknown
  /** Those that no earlier write of the batch has told already. */
  readonly wakes?: readonly Wake[]
  readonly notes?: readonly StoreNote[]
}

/** Keeps the wakes that are new in a batch: its writes are answered together. */
function newIn(told: Set<string>): (wake: Wake) => boolean {
  return ({ queue, atMs }) => {
    const known = told.size
    return told.add(`${atMs} ${queue}`).size > known
  }
}

function answerOf(
  value: unknown,
  wakes: readonly Wake[],
  notes: readonly StoreNote[],
): WriteAnswer {
  return wakes.length + notes.length === 0 ? { value } : { value, wakes, notes }
}

type Handlers = { readonly [K in WriteKind]: (args: Writes[K]['args']) => Writes[K]['result'] }

/** One handler per kind of write. */
function handlersOf(context: Context): Handlers {
  const subscriptions = new SubscriptionTable(context)
  const appender = new Appender(context, subscriptions)
  const deadLetters = new DeadLetterFile(context)
  const acker = new Acker(context, subscriptions, deadLetters)
  const leases = new LeaseDesk(context)
  const popper = new Popper(context, subscriptions)
  const groups = new GroupDesk(context, subscriptions)
  const remover = new Remover(context)
  const seeker = new Seeker(context, subscriptions)
  const dlq = new DlqDesk(context, { appender, subscriptions, deadLetters })
  const transactor = new Transactor(context, { appender, acker, leases })
  const ops = opsWriteHandlers(context, { appender, remover })
  return {
    configure: (args) => configure(context, appender, args),
    pop: (args) => popper.pop(args),
    release: (args) => leases.release(args),
    ack: ({ group, items, nowUs }) => acker.ack(group, items, nowUs),
    extend: (args) => leases.extend(args),
    transaction: (args) => transactor.run(args),
    deleteGroup: (args) => groups.delete(args),
    updateSubscription: (args) => groups.updateSubscription(args),
    seek: (args) => seeker.seek(args),
    deleteDlq: (args) => dlq.delete(args),
    replayDlq: (args) => dlq.replay(args),
    moveToDlq: (args) => dlq.move(args),
    jobStep: jobHandler(context, subscriptions),
    ...ops,
    ...streamWriteHandlers(context, { appender, acker }),
  }
}

/** Opens the queue's tables on one connection. Statements are prepared when the side is first used. */
export function openQueueSession(db: DatabaseSync, options: QueueStoreOptions): StoreSession {
  let writing: { context: Context; handlers: Handlers } | undefined
  let reading: ReadHandlers | undefined

  const opened = () => {
    if (writing === undefined) {
      const context = new Context(db, options)
      writing = { context, handlers: handlersOf(context) }
    }
    return writing
  }

  return {
    write(batch) {
      const { context, handlers } = opened()
      context.partitions.makeRoom()
      const isNew = newIn(new Set())
      const answers = batch.map((operation): WriteAnswer => {
        // The store's own client made it: the kind fits the arguments.
        const op = fromWire(operation as WireOp)
        const handle = handlers[op.kind] as (args: unknown) => unknown
        const value = op.kind === 'push' ? pushAnswerRow(handlers.push(op.args)) : handle(op.args)
        return answerOf(value, context.takeWakes().filter(isNew), context.takeNotes())
      })
      context.tally.flush()
      return answers
    },
    read(query) {
      reading ??= readHandlers(db, options)
      // As above.
      const { kind, args } = query as { readonly kind: ReadKind; readonly args: unknown }
      return (reading[kind] as (args: unknown) => unknown)(args)
    },
    reset() {
      writing?.context.tally.forget()
      writing?.context.takeWakes()
      writing?.context.takeNotes()
      writing?.context.forget()
    },
  }
}
