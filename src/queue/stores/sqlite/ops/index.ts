import type { DatabaseSync } from 'node:sqlite'
import type { PayloadCipher } from '../../../cipher.ts'
import { DEFAULT_OPTIONS, type QueueOptions } from '../../../model.ts'
import type { OpsReads, OpsWrites, Writes } from '../../../store.ts'
import type { Appender } from '../append.ts'
import type { Context } from '../context.ts'
import type { Remover } from '../removal.ts'
import { query } from '../rows.ts'
import { bufferReader, PushGate } from './buffer.ts'
import { MessageRemover } from './delete-message.ts'
import { historyReader, historyWriter } from './history.ts'
import { MessageBrowser } from './message-rows.ts'
import { pruner } from './prune.ts'
import { TraceReader, traceWriter } from './traces.ts'

/** Kinds of the core that pass the gate of push maintenance, or empty its buffer along with a queue. */
type GatedKind = 'push' | 'setFlag' | 'deleteQueue' | 'clearQueue'
type Kind = keyof OpsWrites | GatedKind

type WriteHandlers = { readonly [K in Kind]: (args: Writes[K]['args']) => Writes[K]['result'] }
type ReadHandlers = {
  readonly [K in keyof OpsReads]: (args: OpsReads[K]['args']) => OpsReads[K]['result']
}

/** The operator's writes, and those of the core that push maintenance concerns. */
export function opsWriteHandlers(
  context: Context,
  parts: { readonly appender: Appender; readonly remover: Remover },
): WriteHandlers {
  const { appender, remover } = parts
  const gate = new PushGate(context, appender)
  const messages = new MessageRemover(context)
  const history = historyWriter(context.db)
  const prune = pruner(context.db, history)
  const traces = traceWriter(context.db)
  return {
    push: (args) => gate.push(args),
    setFlag: (args) => gate.setFlag(args),
    deleteQueue(args) {
      gate.drop(args.queue, null)
      return remover.deleteQueue(args)
    },
    clearQueue(args) {
      const step = remover.clear(args)
      const dropped = args.after === null && step.found ? gate.drop(args.queue, args.partition) : 0
      return { ...step, deleted: step.deleted + dropped }
    },
    addTrace: (args) => traces.addTrace(args),
    deleteMessage: (args) => messages.delete(args),
    drainBuffer: (args) => gate.drain(args),
    skipBuffered: () => gate.skip(),
    recordMetrics: (args) => history.recordMetrics(args),
    pruneHistory: (args) => prune(args),
  }
}

/** Partitions of one queue whose oldest message is looked at; beyond it the age is that of a sample. */
const MAX_AGED_PARTITIONS = 10_000

/** Reads of queues that only the operator's routes need. */
function queueReader(db: DatabaseSync) {
  const options = query<{ options: string }>(
    db,
    'SELECT options FROM queue WHERE name = ? AND deleted = 0',
  )
  const partitions = query<{ name: string; partitions: number }>(
    db,
    'SELECT name, partitions FROM queue WHERE deleted = 0',
  )
  const oldest = query<{ name: string; oldest: number | null }>(
    db,
    `SELECT q.name, (SELECT min(made) FROM
         (SELECT (SELECT m.created_at FROM message m
                  WHERE m.partition_id = p.id AND m.position >= p.head
                  ORDER BY m.position LIMIT 1) AS made
          FROM partition p WHERE p.queue_id = q.id ORDER BY p.id LIMIT ${MAX_AGED_PARTITIONS}))
       AS oldest
     FROM queue q WHERE q.deleted = 0 AND q.stored > 0
       AND NOT EXISTS (SELECT 1 FROM subscription s WHERE s.queue_id = q.id)`,
  )
  return {
    queueOptions({ queue }: OpsReads['queueOptions']['args']): QueueOptions | null {
      const row = options.one(queue)
      if (row === undefined) return null
      const stored: Partial<QueueOptions> = JSON.parse(row.options)
      return { ...DEFAULT_OPTIONS, ...stored }
    },
    oldestUnread: (): ReadonlyMap<string, number> =>
      new Map(oldest.all().map((row) => [row.name, row.oldest ?? 0])),
    partitionCounts: (): ReadonlyMap<string, number> =>
      new Map(partitions.all().map((row) => [row.name, row.partitions])),
  }
}

/** The operator's reads. */
export function opsReadHandlers(db: DatabaseSync, cipher: PayloadCipher): ReadHandlers {
  const browser = new MessageBrowser(db, cipher)
  const traces = new TraceReader(db, cipher)
  return {
    messages: (args) => browser.list(args),
    message: ({ partitionId, transactionId, nowUs }) =>
      browser.show(partitionId, transactionId, nowUs),
    messageTraces: (args) => traces.messageTraces(args),
    tracesByName: (args) => traces.tracesByName(args),
    traceNames: (args) => traces.traceNames(args),
    ...bufferReader(db),
    ...queueReader(db),
    ...historyReader(db),
  }
}
