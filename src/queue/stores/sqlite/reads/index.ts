import type { DatabaseSync } from 'node:sqlite'
import { payloadCipher } from '../../../cipher.ts'
import type { ReadKind, Reads } from '../../../store.ts'
import type { QueueStoreOptions } from '../context.ts'
import { flagTable } from '../flags.ts'
import { opsReadHandlers } from '../ops/index.ts'
import { streamReadHandlers } from '../streams/index.ts'
import { listDeadLetters } from './dead-letters.ts'
import { GroupFiguresReader } from './group-figures.ts'
import { Listings } from './listings.ts'
import { Overview } from './overview.ts'

/** One handler per kind of read. */
export type ReadHandlers = {
  readonly [K in ReadKind]: (args: Reads[K]['args']) => Reads[K]['result']
}

/** Opens the reads on a connection. */
export function readHandlers(db: DatabaseSync, options: QueueStoreOptions): ReadHandlers {
  const cipher = payloadCipher(options.encryptionKey)
  const listings = new Listings(db)
  const groups = new GroupFiguresReader(db)
  const overview = new Overview(db)
  const flags = flagTable(db)
  return {
    queues: (args) => listings.queues(args),
    queueDetail: (args) => listings.queueDetail(args),
    partitions: (args) => listings.partitions(args),
    namespaces: () => listings.namespaces(),
    tasks: () => listings.tasks(),
    depth: (args) => overview.depth(args),
    overview: (args) => overview.overview(args),
    status: (args) => overview.status(args),
    counters: (args) => overview.counters(args),
    groups: (args) => groups.groups(args),
    lagging: (args) => groups.lagging(args),
    groupDetail: (args) => groups.detail(args),
    dlq: (args) => listDeadLetters(db, cipher, args),
    flags: () => flags.all(),
    databaseFigures: () => null,
    ...opsReadHandlers(db, cipher),
    ...streamReadHandlers(db),
  }
}
