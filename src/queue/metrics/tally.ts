import {
  QUEUE_COLUMN_NAMES,
  QUEUE_COLUMNS,
  type QueueColumn,
  type QueueFigures,
} from './columns.ts'

/** Queues beyond this many in one interval share one row, so that names from outside cannot fill the memory. */
const MAX_QUEUES_PER_INTERVAL = 10_000

/** The name of the row that takes what has no room of its own. */
export const OTHER_QUEUES = '__other__'

type Figures = Record<QueueColumn, number>

/** A row of zeroes. */
export function noFigures(): Figures {
  // The entries are the columns themselves, so the shape is that of a row.
  return Object.fromEntries(QUEUE_COLUMN_NAMES.map((name) => [name, 0])) as Figures
}

/** Adds the figures of `more` to `into`, each column by its own rule. */
export function addFigures(into: Figures, more: QueueFigures): void {
  for (const name of QUEUE_COLUMN_NAMES) {
    into[name] =
      QUEUE_COLUMNS[name] === 'sum' ? into[name] + more[name] : Math.max(into[name], more[name])
  }
}

/** Counts what happens to each queue until the next `take`. Adding is all that a request pays. */
export class Tally {
  #rows = new Map<string, Figures>()

  /** Adds to a figure of a queue, or raises it where the column keeps the highest value. */
  note(queue: string, column: QueueColumn, value = 1): void {
    const row = this.#row(queue)
    row[column] =
      QUEUE_COLUMNS[column] === 'sum' ? row[column] + value : Math.max(row[column], value)
  }

  /** Everything counted since the last call, by queue name; the counting starts afresh. */
  take(): ReadonlyMap<string, QueueFigures> {
    const rows = this.#rows
    this.#rows = new Map()
    return rows
  }

  /** Puts back what could not be stored. */
  putBack(rows: ReadonlyMap<string, QueueFigures>): void {
    for (const [queue, figures] of rows) addFigures(this.#row(queue), figures)
  }

  #row(queue: string): Figures {
    const known = this.#rows.get(queue)
    if (known !== undefined) return known
    const name = this.#rows.size >= MAX_QUEUES_PER_INTERVAL ? OTHER_QUEUES : queue
    const row = this.#rows.get(name) ?? noFigures()
    this.#rows.set(name, row)
    return row
  }
}
