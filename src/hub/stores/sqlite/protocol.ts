import type { Update } from '../../store.ts'

/** One write: an update, and how many updates to keep (0 = all) once it is in. */
export interface AppendOperation {
  readonly update: Update
  readonly keep: number
}

/** One read: the newest update, the position of an id, or the page after a position. */
export type HistoryQuery =
  | { readonly find: 'head' }
  | { readonly find: 'cursor'; readonly id: string }
  | { readonly find: 'page'; readonly seq: number }
