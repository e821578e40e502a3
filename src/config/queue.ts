import { z } from 'zod'
import { integer, text } from './kinds.ts'
import { type Kind, type Settings, secret, variable } from './variable.ts'

const HOUR_MS = 3_600_000
const encryptionKey = {
  schema: z.string().regex(/^[0-9a-fA-F]{64}$/),
  accepts: '64 hexadecimal digits (32 bytes)',
}

/** The words of queue API 7.1. In a request any other text means `all`; here it is most likely a typo. */
const MODE_WORDS = ['all', 'from_beginning', 'new', 'new-only', 'new_only', 'newonly'] as const
const subscriptionMode: Kind<string> = {
  schema: z.string().toLowerCase().pipe(z.enum(MODE_WORDS)),
  accepts: `one of ${MODE_WORDS.join(', ')}`,
}

/** The queue broker. Names and defaults are those of the queue API page, section 4. */
export const QUEUE_VARIABLES = {
  defaultTimeoutMs: variable(
    'DEFAULT_TIMEOUT',
    integer(0, HOUR_MS),
    30_000,
    'Longest wait of a pop in ms when the request gives no timeout',
  ),
  defaultBatchSize: variable(
    'DEFAULT_BATCH_SIZE',
    integer(1, 100_000),
    1,
    'Messages of a pop when the request gives no batch',
  ),
  defaultSubscriptionMode: variable(
    'DEFAULT_SUBSCRIPTION_MODE',
    subscriptionMode,
    '',
    'Where groups that give no mode start: empty or all for everything, new to skip history',
  ),
  maxBodyBytes: variable(
    'QUEEN_MAX_BODY_BYTES',
    integer(1024, 1_073_741_824),
    67_108_864,
    'Largest request body in bytes; above it the answer is 413',
  ),
  encryptionKey: secret(
    'QUEEN_ENCRYPTION_KEY',
    encryptionKey,
    '',
    'Key for queues with encryptionEnabled; without it they store in clear',
  ),
  retentionIntervalMs: variable(
    'RETENTION_INTERVAL',
    integer(100, 24 * HOUR_MS),
    5000,
    'Time between retention passes in ms',
  ),
  retentionBatchSize: variable(
    'RETENTION_BATCH_SIZE',
    integer(1, 1_000_000),
    1000,
    'Rows deleted in one step of a retention pass',
  ),
  evictionIntervalMs: variable(
    'EVICTION_INTERVAL',
    integer(0, 24 * HOUR_MS),
    0,
    'Time between eviction passes in ms; unset or 0: together with retention',
  ),
  partitionCleanupDays: variable(
    'PARTITION_CLEANUP_DAYS',
    integer(1, 36_500),
    30,
    'Age in days at which empty, idle partitions are removed',
  ),
  workerId: variable(
    'WORKER_ID',
    text,
    '',
    'Name of this process in health and metrics; empty: host and pid',
  ),
} as const

export type QueueConfig = Settings<typeof QUEUE_VARIABLES>
