import type { RawOutcome } from './connection.ts'
import type { ModuleSpec } from './module.ts'

/** What a store thread is told when it starts. */
export interface ThreadSetup {
  /** `lock` opens no database: it holds the folder, and answers nothing but `close`. */
  readonly role: 'writer' | 'reader' | 'lock'
  readonly dataDir: string
  readonly file: string
  readonly specs: readonly ModuleSpec[]
}

/** Asks for one transaction, answered when it is durable. */
export interface CommitRequest {
  readonly id: number
  readonly do: 'commit'
  readonly module: string
  readonly batch: readonly unknown[]
}

/** A request to a store thread; answers carry the same `id`. */
export type ThreadRequest =
  | CommitRequest
  | { readonly id: number; readonly do: 'read'; readonly module: string; readonly query: unknown }
  | { readonly id: number; readonly do: 'ping' | 'close' }

/** What a request asks for, before it has its number. */
export type ThreadTask =
  | Omit<CommitRequest, 'id'>
  | Omit<Extract<ThreadRequest, { do: 'read' }>, 'id'>
  | Omit<Extract<ThreadRequest, { do: 'ping' | 'close' }>, 'id'>

/** Number of the message that says a thread is ready, or why it cannot start. */
export const READY_ID = 0

/** An answer of a store thread. `code` is set for failures that the main thread must recognise. */
export type ThreadReply =
  | { readonly id: number; readonly outcomes: readonly RawOutcome[] }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failed: string; readonly code: string | null }
