import type { DatabaseReads } from './store-database.ts'
import type { StoreNote } from './store-notes.ts'
import type { OpsReads, OpsWrites } from './store-ops.ts'
import type { CoreReads } from './store-reads.ts'
import type { PushItem } from './store-shapes.ts'
import type { StreamReads, StreamWrites } from './store-streams.ts'
import type { CoreWrites } from './store-writes.ts'

export type * from './store-database.ts'
export type * from './store-notes.ts'
export type * from './store-ops.ts'
export type * from './store-reads.ts'
export type * from './store-shapes.ts'
export type * from './store-streams.ts'

/** Every write of the queue by kind: arguments and result. */
export type Writes = CoreWrites & OpsWrites & StreamWrites
/** Every read of the queue by kind: arguments and result. */
export type Reads = CoreReads & OpsReads & StreamReads & DatabaseReads

export type WriteKind = keyof Writes
export type ReadKind = keyof Reads

/** One write: its kind and its arguments, plain data. */
export type WriteOp = {
  [K in WriteKind]: { readonly kind: K; readonly args: Writes[K]['args'] }
}[WriteKind]

/**
 * Says that something may be deliverable on a queue. Waiting pops in its scope look again: at once, or
 * at `atMs` when a lease runs out, a delay matures or a window closes then.
 */
export interface Wake {
  readonly queue: string
  readonly namespace: string
  readonly task: string
  /** ms since 1970; null = now. */
  readonly atMs: number | null
}

/** A push that was accepted while the store was away, with the message id that its answer named. */
export interface WaitingPush {
  readonly item: PushItem
  readonly id: string
  readonly producerSub: string | null
}

/** Pushes that are to be stored late. */
export interface Replaying {
  readonly messages: readonly WaitingPush[]
  /** When they came, in µs since 1970. */
  readonly atUs: number
  readonly nowUs: number
}

/** `held`: push maintenance holds pushes back, nothing was stored. */
export interface ReplayedPushes {
  readonly held: boolean
  readonly wakes: readonly Wake[]
  readonly notes: readonly StoreNote[]
}

/** What became of one write. A business refusal is part of the value; `error` is a fault of the store. */
export type WriteOutcome =
  | {
      readonly ok: true
      readonly value: unknown
      readonly wakes: readonly Wake[]
      /** What happened inside the store that figures count. */
      readonly notes: readonly StoreNote[]
    }
  | { readonly ok: false; readonly error: Error }

/**
 * The port between the engine and a store. Set-based and asynchronous: many writes go in together and
 * are answered after one commit. All times come with the arguments, so that a test may own the clock.
 */
export interface QueueStore {
  /**
   * Applies the batch durably; outcomes in request order, of the types of `Writes`. Within a lane what one
   * operation writes the next one of the batch sees. A faulty operation fails alone.
   * @throws StoreClosedError (src/storage) when the store is gone
   */
  commit(batch: readonly WriteOp[]): Promise<readonly WriteOutcome[]>
  /** Answers one read from a state that holds every commit answered before. @throws as `commit` */
  read<K extends ReadKind>(kind: K, args: Reads[K]['args']): Promise<Reads[K]['result']>
  /** Wakes that come from other processes on the same store. Returns the function that unsubscribes. */
  onRemoteWake(listener: (wake: Wake) => void): () => void
  /**
   * Writes whose lane differs may be committed side by side, in batches of their own; absent: all have one lane,
   * and batches follow each other.
   */
  readonly laneOf?: (kind: WriteKind) => string
  /** Set by a store that commits in a thread of its own; see GroupCommit. */
  readonly inHalves?: boolean
  /** Set by a store that several processes share. */
  readonly shared?: {
    /** A remote wake may be lost: waiting pops have to look again this often, in ms. */
    readonly recheckMs: number
    /** Told when another process may have set a flag. Returns the function that unsubscribes. */
    onFlags(listener: () => void): () => void
  }
  /**
   * Only of a store that can be away: stores pushes that waited outside of it.
   * @throws as `commit`, and for a push that it refuses
   */
  readonly replay?: (replaying: Replaying) => Promise<ReplayedPushes>
  /** Resolves when the store answers. @throws as `commit` */
  ping(): Promise<void>
  close(): Promise<void>
}
