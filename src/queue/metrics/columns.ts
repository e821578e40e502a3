/** How two values of a column become one, when rows of a minute are added up. */
export type Fold = 'sum' | 'max'

/**
 * What is counted for each queue and minute. One row here is one column in the store, one member of the
 * tally and one figure in the answers; nothing else lists them.
 */
export const QUEUE_COLUMNS = {
  pushRequests: 'sum',
  pushMessages: 'sum',
  popRequests: 'sum',
  popMessages: 'sum',
  popEmpty: 'sum',
  ackRequests: 'sum',
  ackSuccess: 'sum',
  ackFailed: 'sum',
  dlqMessages: 'sum',
  transactions: 'sum',
  /** Pushes that were stored already; they are not in `pushMessages`. */
  duplicates: 'sum',
  leasesExpired: 'sum',
  /** Requests that the store could not serve. */
  storeErrors: 'sum',
  partitionsCreated: 'sum',
  partitionsDeleted: 'sum',
  /** Time between the commit of a message and its pop, in ms. */
  lagCount: 'sum',
  lagSumMs: 'sum',
  lagMaxMs: 'max',
  parked: 'max',
  retentionMsgs: 'sum',
  completedRetentionMsgs: 'sum',
  evictionMsgs: 'sum',
  retentionEvents: 'sum',
} as const satisfies Record<string, Fold>

/** The name of one figure of a queue. */
export type QueueColumn = keyof typeof QUEUE_COLUMNS

/** The figures of one queue in one minute. */
export type QueueFigures = Readonly<Record<QueueColumn, number>>

/** All figures in the order of the table. */
export const QUEUE_COLUMN_NAMES = Object.keys(QUEUE_COLUMNS) as readonly QueueColumn[]

/**
 * What is sampled of each process. Every gauge is kept as sum, min, max and last over the samples of a
 * minute, so that any wider bucket can be made from the rows of its minutes.
 */
export const GAUGES = [
  'cpuUserUs',
  'cpuSystemUs',
  'rssBytes',
  'virtualBytes',
  'heapUsedBytes',
  'eventLoopLagMs',
  'eventLoopLagMaxMs',
  'storeConnections',
  'storeIdle',
  'storeActive',
  'pendingWrites',
  'freeSlots',
  'parkedPops',
] as const

/** The name of one sampled figure of a process. */
export type Gauge = (typeof GAUGES)[number]

/** One sample of a process. */
export type Sample = Readonly<Record<Gauge, number>>

/** What a gauge did over a number of samples. */
export interface Spread {
  readonly sum: number
  readonly min: number
  readonly max: number
  readonly last: number
}

/** The gauges of one process over one minute. */
export interface SampledMinute {
  readonly samples: number
  readonly gauges: Readonly<Record<Gauge, Spread>>
}
