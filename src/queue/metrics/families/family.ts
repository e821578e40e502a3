import type { SpillState } from '../../engine/api.ts'
import type { QueueFigures } from '../columns.ts'
import type { FinishedInterval, ProcessIdentity } from '../recorder.ts'

/** One line of a family: its labels and its value. */
export type Line = readonly [labels: Readonly<Record<string, string>>, value: number]

/** One metric family. A row of these tables is all that is known about it. */
export interface Family {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly labels: readonly string[]
  /** Undefined when the figure cannot be read at present; the family is then left out. */
  readonly read: (scrape: Scrape) => readonly Line[] | undefined
}

/** How many messages wait, and for how long the oldest has: of a queue, or of one group on it. */
export interface Depth {
  readonly queue: string
  /** Undefined for the queue itself. */
  readonly group?: string
  readonly messages: number
  readonly oldestAgeS: number
}

/** Figures that only the store knows; absent while it is down. */
export interface StoreFigures {
  /** Sums over all processes and all time. */
  readonly totals: QueueFigures
  readonly depths: readonly Depth[]
  readonly stored: readonly (readonly [queue: string, messages: number])[]
  readonly deadLetters: readonly (readonly [queue: string, messages: number])[]
  readonly buffer: { readonly pending: number; readonly failed: number }
  readonly pushMaintenance: boolean
}

/** Everything that one scrape shows, gathered once. */
export interface Scrape {
  readonly nowMs: number
  readonly identity: ProcessIdentity
  readonly uptimeS: number
  /** Most values of the label `queue`, and of `queue` and `group` together. */
  readonly maxQueues: number
  readonly process: {
    readonly rssBytes: number
    readonly virtualBytes: number
    readonly cpuUserUs: number
    readonly cpuSystemUs: number
    readonly eventLoopLagMs: number
    readonly eventLoopLagMaxMs: number
  }
  readonly broker: {
    readonly storeConnections: number
    readonly storeActive: number
    readonly pendingWrites: number
    readonly freeSlots: number
  }
  /** Pops that wait now, by queue. */
  readonly parked: ReadonlyMap<string, number>
  /** What this process has counted since its start, by queue. */
  readonly lifetime: ReadonlyMap<string, QueueFigures>
  readonly finished: FinishedInterval | undefined
  /** Length of the interval of `finished` in ms. */
  readonly intervalMs: number
  readonly store: StoreFigures | undefined
  /** Pushes that wait in files; this process alone, whether the store answers or not. */
  readonly spilled: SpillState | undefined
}

/** The push buffer of the store and the files of this process together; undefined when nobody can tell. */
export function bufferFigure(
  { store, spilled }: Pick<Scrape, 'store' | 'spilled'>,
  name: 'pending' | 'failed',
): number | undefined {
  if (store === undefined && spilled === undefined) return undefined
  return (store?.buffer[name] ?? 0) + (spilled?.[name] ?? 0)
}

/** The only line of a family without labels. */
export function single(value: number | undefined): readonly Line[] | undefined {
  return value === undefined ? undefined : [[{}, value]]
}

/** The label value that stands for everything beyond the bound. */
export const OTHER = '__other__'

/**
 * Keeps the first `most` rows by name and folds the others into one, so that names from outside cannot make
 * a scrape grow without end. By name and not by size: the kept series stay the same from scrape to scrape.
 */
export function bounded<T>(
  rows: Iterable<readonly [name: string, row: T]>,
  most: number,
  fold: (into: T, more: T) => T,
): readonly (readonly [name: string, row: T])[] {
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const rest = sorted.slice(most).map(([, row]) => row)
  const kept = sorted.slice(0, most)
  return rest.length === 0 ? kept : [...kept, [OTHER, rest.reduce(fold)]]
}
