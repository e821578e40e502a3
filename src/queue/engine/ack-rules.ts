import type { AckStatus } from '../model.ts'

/** The cursor of one (partition, group) before an ack. */
export interface AckCursor {
  /** Everything at or below is consumed. */
  readonly position: number
  /** Last leased position, of a live lease or one that ran out; null = no lease on record. */
  readonly leaseEnd: number | null
  readonly retryCount: number
}

/** One signal: its status, and every stored position of its transaction id in the partition. */
export interface AckSignal {
  readonly status: AckStatus
  readonly positions: readonly number[]
}

export interface AckPolicy {
  readonly retryLimit: number
  /** True when exhausted messages go to the dead-letter queue, false when they are dropped. */
  readonly deadLetter: boolean
}

/** What one signal is answered. `failure` null = success. */
export interface SignalVerdict {
  readonly failure: 'not_found' | 'committed' | null
  readonly noop: boolean
  readonly dlq: boolean
}

/** The cursor after the ack, and what has to be done besides. */
export interface AckDecision {
  readonly position: number
  readonly retryCount: number
  readonly leaseEnds: boolean
  /** True when the lease ended because its whole span is done. */
  readonly batchDone: boolean
  /** True when a failure was reported for the head. */
  readonly failed: boolean
  /** The head message when the group gives up on it. */
  readonly givenUp: { readonly position: number; readonly deadLetter: boolean } | null
  /** One per signal, in order. */
  readonly verdicts: readonly SignalVerdict[]
}

type Place = { readonly at: number; readonly below: boolean } | null

/** Queue API 6.2 rule 2: inside the leased span first, else at or below the cursor, else unknown. */
function resolve(cursor: AckCursor, positions: readonly number[]): Place {
  const end = cursor.leaseEnd ?? Number.POSITIVE_INFINITY
  const inSpan = positions.filter((at) => at > cursor.position && at <= end)
  if (inSpan.length > 0) return { at: Math.min(...inSpan), below: false }
  const below = positions.filter((at) => at <= cursor.position)
  return below.length > 0 ? { at: Math.max(...below), below: true } : null
}

/** At one position dlq beats failed beats retry. Rule 4. */
const WEIGHT: Readonly<Record<AckStatus, number>> = { completed: 0, retry: 1, failed: 2, dlq: 3 }

interface Open {
  readonly at: number
  readonly status: AckStatus
}

function headOf(open: readonly Open[]): Open | null {
  let head: Open | null = null
  for (const signal of open) {
    if (signal.status === 'completed') continue
    const lower = head === null || signal.at < head.at
    const heavier = head?.at === signal.at && WEIGHT[signal.status] > WEIGHT[head.status]
    if (lower || heavier) head = signal
  }
  return head
}

function commitPoint(position: number, open: readonly Open[], head: Open | null): number {
  let point = position
  for (const signal of open) {
    const counts = signal.status === 'completed' && (head === null || signal.at < head.at)
    if (counts && signal.at > point) point = signal.at
  }
  return point
}

type Effect = Omit<AckDecision, 'verdicts'>

function withoutHead(cursor: AckCursor, position: number): Effect {
  const done = cursor.leaseEnd !== null && position >= cursor.leaseEnd
  const retryCount = done ? 0 : cursor.retryCount
  return { position, retryCount, leaseEnds: done, batchDone: done, failed: false, givenUp: null }
}

/** Rule 7, the rows with a head. A negative head needs a lease on record. */
function withHead(cursor: AckCursor, point: number, head: Open, policy: AckPolicy): Effect {
  const kept = { position: point, batchDone: false, givenUp: null }
  const { retryCount } = cursor
  if (cursor.leaseEnd === null) return { ...kept, retryCount, leaseEnds: false, failed: false }
  if (head.status === 'retry') return { ...kept, retryCount, leaseEnds: true, failed: false }
  if (head.status === 'failed' && retryCount < policy.retryLimit) {
    return { ...kept, retryCount: retryCount + 1, leaseEnds: true, failed: true }
  }
  const deadLetter = head.status === 'dlq' || policy.deadLetter
  const givenUp = { position: head.at, deadLetter }
  return {
    position: head.at,
    retryCount: 0,
    leaseEnds: true,
    batchDone: false,
    failed: true,
    givenUp,
  }
}

function verdictOf(place: Place, status: AckStatus, effect: Effect): SignalVerdict {
  if (place === null) return { failure: 'not_found', noop: false, dlq: false }
  if (place.below) {
    const late = status !== 'completed'
    return { failure: late ? 'committed' : null, noop: !late, dlq: false }
  }
  const gone = effect.givenUp
  const dlq = status !== 'completed' && gone?.deadLetter === true && gone.position === place.at
  return { failure: null, noop: false, dlq }
}

/**
 * The cursor rules of queue API 6.2 (2 to 8) for the signals of one (partition, group, lease id); the
 * lease check of rule 1 comes before. Pure: every store calls it inside its transaction.
 */
export function decideAck(
  cursor: AckCursor,
  signals: readonly AckSignal[],
  policy: AckPolicy,
): AckDecision {
  const places = signals.map((signal) => resolve(cursor, signal.positions))
  const open: Open[] = []
  signals.forEach(({ status }, i) => {
    const place = places[i] ?? null
    if (place !== null && !place.below) open.push({ at: place.at, status })
  })
  const head = headOf(open)
  const point = commitPoint(cursor.position, open, head)
  const effect = head === null ? withoutHead(cursor, point) : withHead(cursor, point, head, policy)
  const verdicts = signals.map(({ status }, i) => verdictOf(places[i] ?? null, status, effect))
  return { ...effect, verdicts }
}
