import { integer } from './kinds.ts'
import { type Settings, variable } from './variable.ts'

const MAX_BYTES = 68_719_476_736

/**
 * Metrics and the limits that keep a busy broker from growing without end. The first three names are those
 * of the queue API page, section 4.
 */
export const OPERATIONS_VARIABLES = {
  metricsRetentionDays: variable(
    'METRICS_RETENTION_DAYS',
    integer(1, 36_500),
    90,
    'Days that the history of metrics is kept',
  ),
  metricsSampleIntervalMs: variable(
    'METRICS_SAMPLE_INTERVAL_MS',
    integer(100, 60_000),
    1000,
    'Time between two samples of the process in ms',
  ),
  metricsAggregateIntervalS: variable(
    'METRICS_AGGREGATE_INTERVAL_S',
    integer(1, 3600),
    60,
    'Length in seconds of one row of the history of metrics',
  ),
  metricsMaxQueues: variable(
    'QUEEN_METRICS_MAX_QUEUES',
    integer(0, 100_000),
    200,
    'Most values of the label queue (and of queue and group together) in Prometheus; the rest is summed up',
  ),
  maxWaitingWrites: variable(
    'QUEEN_MAX_WAITING_WRITES',
    integer(1, 1_000_000),
    20_000,
    'Most writes that wait for a commit; above it requests are answered 503 with Retry-After',
  ),
  maxWaitingBytes: variable(
    'QUEEN_MAX_WAITING_BYTES',
    integer(65_536, MAX_BYTES),
    268_435_456,
    'Most bytes of writes that wait for a commit; above it requests are answered 503 with Retry-After',
  ),
  maxParkedPops: variable(
    'QUEEN_MAX_PARKED_POPS',
    integer(1, 1_000_000),
    10_000,
    'Most pops that wait at once in this process; above it a waiting pop is answered 503 with Retry-After',
  ),
} as const

/** Settings of metrics and limits; frozen. */
export type OperationsConfig = Settings<typeof OPERATIONS_VARIABLES>
