/** One published message, as the hub keeps and delivers it. */
export interface Update {
  readonly id: string
  /** Canonical topic first, alternates after it in the order in which they were published. */
  readonly topics: readonly string[]
  readonly data: string
  /** True: delivered only to subscribers whose token covers one of the topics. */
  readonly private: boolean
  /** The event name of the stream; absent means the default, `message`. */
  readonly type?: string
  /** Decimal digits without leading zeros, above zero; up to 2^64-1, so it is no JavaScript number. */
  readonly retry?: string
}

/** An update with its place in the hub-wide order. */
export interface StoredUpdate extends Update {
  /** Position in the hub-wide order, from 1; larger means accepted later. */
  readonly seq: number
}

/** Where the history ends. */
export interface Head {
  /** Position of the newest update ever accepted; 0 when there was none. */
  readonly seq: number
  /** Its id; undefined when there was none. */
  readonly id: string | undefined
}

/** A stretch of history in hub order. */
export interface HistoryPage {
  readonly updates: readonly StoredUpdate[]
  /** False when updates after the requested position were trimmed away: the reader has lost some. */
  readonly complete: boolean
  /** True when the page reaches the newest update at the time of the read. */
  readonly atHead: boolean
}

/** Hears every accepted update exactly once, in hub order, in every process that serves the hub. */
export type UpdateListener = (update: StoredUpdate) => void

/** How the hub keeps its history; the engine knows nothing else of a store. */
export interface HubStore {
  /**
   * Makes the store ready and names its head. `listener` is called for every update accepted from then on. `onGap`
   * is called when some were trimmed by another process before this one could hear them, as after a long outage.
   */
  open(listener: UpdateListener, onGap?: () => void): Promise<Head>
  /**
   * Accepts an update: resolves once it is durable and the listener of this process has heard it.
   * `trim` asks to bring the history back to its size as part of the same commit.
   * @throws when the update could not be stored; it was then not delivered either, unless the way to a database
   *   broke during the commit
   */
  append(update: Update, trim: boolean): Promise<void>
  /**
   * The position of a cursor: the start for `earliest`, the first update with that id otherwise. Only the
   * newest `MAX_CURSOR_SEARCH_UPDATES` are searched. Undefined when it is not found.
   */
  locate(cursor: string): Promise<number | undefined>
  /** The next updates after a position. A read sees every update that the listener has heard before. */
  readAfter(seq: number): Promise<HistoryPage>
  close(): Promise<void>
}

/** How far back a cursor is searched; an unbounded search would be a lever for denial of service. */
export const MAX_CURSOR_SEARCH_UPDATES = 10_000
