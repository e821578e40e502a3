import type { Logger } from '../../http/index.ts'
import type { QueueEngine } from '../engine/index.ts'
import type { History } from '../metrics/history.ts'

/** What the routes of the queue need to know; everything is given, nothing is looked up. */
export interface QueueRouteParts {
  readonly engine: QueueEngine
  readonly log: Logger
  /** Current time in ms since 1970. */
  readonly clock: { now(): number }
  /** Largest request body in bytes. */
  readonly maxBodyBytes: number
  /** Messages of a pop that names no batch. */
  readonly defaultBatchSize: number
  /** Wait in ms of a pop that names no timeout. */
  readonly defaultTimeoutMs: number
  /** Whether a key for encryption at rest is set. */
  readonly encrypts: boolean
  /** Whether tokens are checked: the identity routes answer differently. */
  readonly authEnabled: boolean
  /** Version of the package. */
  readonly version: string
  /** Name of this process in health and status. */
  readonly workerId: string
  readonly hostname: string
  /** Name of the store: `sqlite` or `postgres`. */
  readonly store: string
  /** What `/health` says of the other wings, by name. */
  readonly health: () => Readonly<Record<string, unknown>>
  /** The history of metrics. */
  readonly history: History
  /** Time between two samples of the process in ms. */
  readonly sampleIntervalMs: number
  /** Text of `/metrics/prometheus`, and its media type. */
  readonly metricsText: () => Promise<{ readonly type: string; readonly text: string }>
}
