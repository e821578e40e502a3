import type { ProcessPoint, QueuePoint } from '../store-ops.ts'
import type { QueueFigures, SampledMinute } from './columns.ts'
import { joinMinutes } from './gauges.ts'
import { addFigures, noFigures } from './tally.ts'

/** Everything known of one bucket: what was counted, and the samples of all processes together. */
export interface Bucket {
  readonly atMs: number
  readonly figures: QueueFigures
  readonly sampled: SampledMinute | undefined
}

/** Adds rows up by a key; the keys keep the order in which they first came. */
export function sumBy<K>(
  points: readonly QueuePoint[],
  keyOf: (point: QueuePoint) => K,
): ReadonlyMap<K, QueueFigures> {
  const sums = new Map<K, ReturnType<typeof noFigures>>()
  for (const point of points) {
    const key = keyOf(point)
    const sum = sums.get(key) ?? noFigures()
    addFigures(sum, point.figures)
    sums.set(key, sum)
  }
  return sums
}

/** All figures as one row. */
export function sumAll(points: readonly QueuePoint[]): QueueFigures {
  return sumBy(points, () => 'all').get('all') ?? noFigures()
}

/** Joins the samples of processes by a key. */
export function joinBy<K>(
  points: readonly ProcessPoint[],
  keyOf: (point: ProcessPoint) => K,
): ReadonlyMap<K, SampledMinute> {
  const joined = new Map<K, SampledMinute>()
  for (const point of points) {
    const key = keyOf(point)
    const known = joined.get(key)
    joined.set(key, known === undefined ? point : joinMinutes(known, point))
  }
  return joined
}

/** Queue figures and process samples side by side, oldest bucket first; only buckets that hold something. */
export function bucketsOf(
  queuePoints: readonly QueuePoint[],
  processPoints: readonly ProcessPoint[],
): readonly Bucket[] {
  const counted = sumBy(queuePoints, (point) => point.bucketMs)
  const sampled = joinBy(processPoints, (point) => point.bucketMs)
  const starts = [...new Set([...counted.keys(), ...sampled.keys()])].toSorted((a, b) => a - b)
  return starts.map((atMs) => ({
    atMs,
    figures: counted.get(atMs) ?? noFigures(),
    sampled: sampled.get(atMs),
  }))
}
