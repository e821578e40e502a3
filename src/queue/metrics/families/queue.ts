import type { QueueFigures } from '../columns.ts'
import { mean } from '../span.ts'
import { addFigures, noFigures } from '../tally.ts'
import { bounded, type Family, type Line, type Scrape } from './family.ts'

/** Two rows as one; a new row, since the inputs are still in use. */
function together(a: QueueFigures, b: QueueFigures): QueueFigures {
  const sum = noFigures()
  addFigures(sum, a)
  addFigures(sum, b)
  return sum
}

function boundedFigures(rows: ReadonlyMap<string, QueueFigures>, most: number) {
  return bounded(rows, most, together)
}

/** A gauge of the last complete interval, scaled to one minute. */
function perMinute(
  name: string,
  help: string,
  read: (figures: QueueFigures) => readonly Line[],
  labels: readonly string[] = [],
): Family {
  return {
    name,
    type: 'gauge',
    help: `${help} in the last complete minute.`,
    labels: ['queue', ...labels],
    read: ({ finished, intervalMs, maxQueues }) =>
      finished &&
      boundedFigures(finished.queues, maxQueues).flatMap(([queue, figures]) =>
        read(figures).map(
          ([more, value]): Line => [{ queue, ...more }, (value * 60_000) / intervalMs],
        ),
      ),
  }
}

/** A counter of this process by queue, since its start. */
function counted(
  name: string,
  help: string,
  read: (figures: QueueFigures) => readonly Line[],
  labels: readonly string[] = [],
): Family {
  return {
    name,
    type: 'counter',
    help: `${help}, as this process counted since its start.`,
    labels: ['queue', ...labels],
    read: ({ lifetime, maxQueues }) =>
      boundedFigures(lifetime, maxQueues).flatMap(([queue, figures]) =>
        read(figures).map(([more, value]): Line => [{ queue, ...more }, value]),
      ),
  }
}

function byResult(figures: QueueFigures): readonly Line[] {
  return [
    [{ result: 'success' }, figures.ackSuccess],
    [{ result: 'failed' }, figures.ackFailed],
  ]
}

function ageS(scrape: Scrape): number | undefined {
  return scrape.finished && (scrape.nowMs - scrape.finished.endedMs) / 1000
}

/** Figures of each queue. Queue API page, section 12, and per-queue counters that a rate can be taken of. */
export const QUEUE_FAMILIES: readonly Family[] = [
  perMinute('queen_queue_push_requests_per_minute', 'Push requests', (f) => [[{}, f.pushRequests]]),
  perMinute('queen_queue_push_messages_per_minute', 'Messages stored', (f) => [
    [{}, f.pushMessages],
  ]),
  perMinute('queen_queue_pop_messages_per_minute', 'Messages delivered', (f) => [
    [{}, f.popMessages],
  ]),
  perMinute('queen_queue_pop_empty_per_minute', 'Pops that delivered nothing', (f) => [
    [{}, f.popEmpty],
  ]),
  perMinute('queen_queue_transactions_per_minute', 'Transactions', (f) => [[{}, f.transactions]]),
  perMinute('queen_queue_ack_per_minute', 'Messages acknowledged', byResult, ['result']),
  {
    name: 'queen_queue_pop_lag_milliseconds',
    type: 'gauge',
    help: 'Time between commit and delivery of the messages of the last complete minute.',
    labels: ['queue', 'stat'],
    read: ({ finished, maxQueues }) =>
      finished &&
      boundedFigures(finished.queues, maxQueues).flatMap(([queue, figures]): Line[] => [
        [{ queue, stat: 'avg' }, mean(figures.lagSumMs, figures.lagCount)],
        [{ queue, stat: 'max' }, figures.lagMaxMs],
      ]),
  },
  {
    name: 'queen_queue_parked_consumers',
    type: 'gauge',
    help: 'Pops that wait now.',
    labels: ['queue'],
    read: ({ parked, maxQueues }) =>
      bounded(parked, maxQueues, (a, b) => a + b).map(([queue, pops]): Line => [{ queue }, pops]),
  },
  {
    name: 'queen_queue_metrics_age_seconds',
    type: 'gauge',
    help: 'Age of the per-minute figures of a queue.',
    labels: ['queue'],
    read: (scrape) => {
      const age = ageS(scrape)
      if (scrape.finished === undefined || age === undefined) return undefined
      return boundedFigures(scrape.finished.queues, scrape.maxQueues).map(
        ([queue]): Line => [{ queue }, age],
      )
    },
  },
  counted('hivegate_queue_push_requests_total', 'Push requests', (f) => [[{}, f.pushRequests]]),
  counted('hivegate_queue_push_messages_total', 'Messages stored', (f) => [[{}, f.pushMessages]]),
  counted('hivegate_queue_push_duplicates_total', 'Messages refused as duplicates', (f) => [
    [{}, f.duplicates],
  ]),
  counted('hivegate_queue_pop_requests_total', 'Pop requests', (f) => [[{}, f.popRequests]]),
  counted('hivegate_queue_pop_messages_total', 'Messages delivered', (f) => [[{}, f.popMessages]]),
  counted('hivegate_queue_ack_messages_total', 'Messages acknowledged', byResult, ['result']),
  counted('hivegate_queue_dlq_messages_total', 'Messages moved to the dead-letter queue', (f) => [
    [{}, f.dlqMessages],
  ]),
  counted('hivegate_queue_lease_expiries_total', 'Leases that ran out', (f) => [
    [{}, f.leasesExpired],
  ]),
]
