import type { ReadKind } from '../../../store.ts'
import type { ReadHandlers } from '../handler.ts'
import { readBuffer } from '../ops/buffer.ts'
import { readMetricTotals, readProcessSeries, readQueueSeries } from '../ops/history.ts'
import { readMessage, readMessages } from '../ops/messages.ts'
import { readOldestUnread, readPartitionCounts, readQueueOptions } from '../ops/queues.ts'
import { readMessageTraces, readTraceNames, readTracesByName } from '../ops/trace-reads.ts'
import { readDatabaseFigures } from './database-figures.ts'
import { readDeadLetters } from './dead-letters.ts'
import { readFlags } from './flags.ts'
import { readGroupDetail, readGroups, readLagging } from './group-figures.ts'
import {
  readNamespaces,
  readPartitions,
  readQueueDetail,
  readQueues,
  readTasks,
} from './listings.ts'
import { readCounters, readDepth, readOverview, readStatus } from './overview.ts'
import { readStreamState } from './stream-state.ts'

/** Every read by its kind. */
export const READS: ReadHandlers = {
  queues: readQueues,
  queueDetail: readQueueDetail,
  partitions: readPartitions,
  namespaces: readNamespaces,
  tasks: readTasks,
  depth: readDepth,
  overview: readOverview,
  status: readStatus,
  counters: readCounters,
  groups: readGroups,
  lagging: readLagging,
  groupDetail: readGroupDetail,
  dlq: readDeadLetters,
  flags: readFlags,
  messages: readMessages,
  message: readMessage,
  messageTraces: readMessageTraces,
  tracesByName: readTracesByName,
  traceNames: readTraceNames,
  buffer: readBuffer,
  queueOptions: readQueueOptions,
  oldestUnread: readOldestUnread,
  partitionCounts: readPartitionCounts,
  queueSeries: readQueueSeries,
  processSeries: readProcessSeries,
  metricTotals: readMetricTotals,
  streamState: readStreamState,
  databaseFigures: readDatabaseFigures,
}

/** Reads that are one statement, which is a snapshot by itself: they need no transaction. */
export const SINGLE_READS: ReadonlySet<ReadKind> = new Set<ReadKind>([
  'namespaces',
  'tasks',
  'depth',
  'groups',
  'lagging',
  'groupDetail',
  'flags',
  'messageTraces',
  'buffer',
  'queueOptions',
  'oldestUnread',
  'partitionCounts',
  'queueSeries',
  'processSeries',
  'metricTotals',
  'streamState',
])
