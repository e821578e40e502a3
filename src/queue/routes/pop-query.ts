import type { PopRequest } from '../engine/index.ts'
import { checkName } from '../model.ts'
import type { PopScope } from '../store.ts'
import { groupOf } from './request.ts'

/** A parsed query: text, or an array of texts where a name stands twice. */
type Query = Readonly<Record<string, unknown>>

/** What a request that names none gets. */
export interface PopDefaults {
  readonly defaultBatchSize: number
  readonly defaultTimeoutMs: number
}

/** More messages than this in one reply would not fit any body limit; the largest DEFAULT_BATCH_SIZE. */
const MAX_BATCH = 100_000
/** Each partition gives one message at least, so more never counts. Stores count in 32 bits. */
const MAX_PARTITIONS = MAX_BATCH
/** Longest wait in ms; the largest DEFAULT_TIMEOUT. */
const MAX_WAIT_MS = 3_600_000
/** A lease of more than a year is a mistake. */
const MAX_LEASE_S = 31_536_000

const WHOLE_NUMBER = /^[+-]?[0-9]{1,15}$/

/** A parameter's text; the first one counts when it is given twice. */
function textOf(query: Query, name: string): string {
  const value = query[name]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : ''
}

/** Queue API 1.4: not parseable or missing is the default, never an error. */
function numberOf(query: Query, name: string, fallback: number): number {
  const text = textOf(query, name)
  return WHOLE_NUMBER.test(text) ? Number(text) : fallback
}

/** Queue API 1.4: `true` or `1`, all else false. */
function flagOf(query: Query, name: string): boolean {
  const text = textOf(query, name)
  return text === 'true' || text === '1'
}

function between(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}

/**
 * Reads the query of a pop. Queue API 5.3.
 * @throws BadNameError for a group that is no name
 */
export function popRequestOf(query: Query, scope: PopScope, defaults: PopDefaults): PopRequest {
  const waitMs = between(numberOf(query, 'timeout', defaults.defaultTimeoutMs), 0, MAX_WAIT_MS)
  const leaseSeconds = between(numberOf(query, 'leaseSeconds', 0), 0, MAX_LEASE_S)
  return {
    scope,
    group: checkName('consumerGroup', groupOf(textOf(query, 'consumerGroup'))),
    batch: between(numberOf(query, 'batch', defaults.defaultBatchSize), 1, MAX_BATCH),
    partitions: between(numberOf(query, 'partitions', 1), 0, MAX_PARTITIONS),
    leaseSeconds: leaseSeconds > 0 ? leaseSeconds : null,
    autoAck: flagOf(query, 'autoAck'),
    subscriptionMode: textOf(query, 'subscriptionMode') || null,
    subscriptionFrom: textOf(query, 'subscriptionFrom') || null,
    waitMs: flagOf(query, 'wait') ? waitMs : 0,
  }
}

/** The queues that a pop without a queue means; null when the request names neither namespace nor task. */
export function labelScopeOf(query: Query): PopScope | null {
  const namespace = textOf(query, 'namespace') || null
  const task = textOf(query, 'task') || null
  return namespace === null && task === null ? null : { namespace, task }
}
