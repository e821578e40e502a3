import {
  GAUGES,
  type Gauge,
  QUEUE_COLUMN_NAMES,
  QUEUE_COLUMNS,
  type QueueColumn,
  type QueueFigures,
  type SampledMinute,
  type Spread,
} from '../metrics/columns.ts'
import { joinMinutes } from '../metrics/gauges.ts'
import { noFigures } from '../metrics/tally.ts'
import type { ProcessPoint, QueuePoint } from '../store.ts'

/** `pushRequests` as the tables spell it: `push_requests`. */
function columnOf(name: QueueColumn): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The columns of the figures, in the order of their names. */
export const FIGURE_COLUMNS = QUEUE_COLUMN_NAMES.map(columnOf)

/** The figures of rows `m` of a group as one: `sum(m.pushes) AS pushes, …`. */
export const FOLDED_FIGURES = QUEUE_COLUMN_NAMES.map(
  (name) => `${QUEUE_COLUMNS[name]}(m.${columnOf(name)}) AS ${columnOf(name)}`,
).join(', ')

/**
 * What an upsert sets: figures that add up are added to those of the row that is there, of the others the higher one
 * stays. `kept` names that row, `higher` is the function that chooses; the dialects differ in both.
 */
export function foldedInto(kept: string, higher: string): string {
  return QUEUE_COLUMN_NAMES.map((name) => {
    const column = columnOf(name)
    return QUEUE_COLUMNS[name] === 'sum'
      ? `${column} = ${kept}${column} + excluded.${column}`
      : `${column} = ${higher}(${kept}${column}, excluded.${column})`
  }).join(', ')
}

/** The figures that add up over time. */
export const SUMMED_COLUMNS = QUEUE_COLUMN_NAMES.filter((name) => QUEUE_COLUMNS[name] === 'sum')

/** Samples of one process in one interval, as the tables hold them. */
export interface SampleColumns {
  readonly bucket: number
  readonly hostname: string
  readonly worker_id: string
  readonly port: number
  readonly samples: number
  readonly gauges: string
}

const NO_SPREAD: Spread = { sum: 0, min: 0, max: 0, last: 0 }

/** A row of figures under the names of the columns. */
export function figuresOf(row: Readonly<Record<string, unknown>>): QueueFigures {
  const figures = noFigures()
  for (const name of QUEUE_COLUMN_NAMES) figures[name] = Number(row[columnOf(name)] ?? 0)
  return figures
}

/** A row of the series of a queue: `bucket`, `queue`, `hostname`, `worker_id` and the figures. */
export function queuePoint(row: Readonly<Record<string, unknown>>): QueuePoint {
  return {
    bucketMs: Number(row['bucket']),
    queue: String(row['queue']),
    hostname: String(row['hostname']),
    workerId: String(row['worker_id']),
    figures: figuresOf(row),
  }
}

/** A sum over all time as the tables hold it. */
export interface TotalColumns {
  readonly name: string
  readonly value: number
}

/** A stored run of samples; a gauge that was added later is zero in older rows. */
export function sampledOf(row: Pick<SampleColumns, 'samples' | 'gauges'>): SampledMinute {
  const stored: Partial<Record<Gauge, Spread>> = JSON.parse(row.gauges)
  const entries = GAUGES.map((gauge) => [gauge, stored[gauge] ?? NO_SPREAD] as const)
  return { samples: row.samples, gauges: Object.fromEntries(entries) as Record<Gauge, Spread> }
}

/** Joins rows, which come in the order of time, into one point for each process and bucket. */
export function processPoints(rows: readonly SampleColumns[]): readonly ProcessPoint[] {
  const points = new Map<string, ProcessPoint>()
  for (const row of rows) {
    const process = { hostname: row.hostname, workerId: row.worker_id, port: row.port }
    const key = JSON.stringify([row.bucket, row.hostname, row.worker_id, row.port])
    const known = points.get(key)
    const more = sampledOf(row)
    const joined = known === undefined ? more : joinMinutes(known, more)
    points.set(key, { bucketMs: row.bucket, process, ...joined })
  }
  return [...points.values()]
}

/** Sums over all time by the names of the columns. */
export function totalsOf(rows: readonly TotalColumns[]): QueueFigures {
  const sums = noFigures()
  const stored = new Map(rows.map(({ name, value }) => [name, value]))
  for (const name of QUEUE_COLUMN_NAMES) sums[name] = stored.get(name) ?? 0
  return sums
}
