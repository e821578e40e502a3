import type { QueueColumn, QueueFigures } from '../columns.ts'
import { mean } from '../span.ts'
import { addFigures, noFigures } from '../tally.ts'
import type { Family, Line, Scrape } from './family.ts'

const WHO = ['host', 'worker'] as const

function whoOf({ identity }: Scrape): Readonly<Record<string, string>> {
  return { host: identity.hostname, worker: identity.workerId }
}

/** A gauge of this process; `split` names the label that tells its lines apart. */
function gauge(
  name: string,
  help: string,
  read: (scrape: Scrape) => readonly Line[] | undefined,
  split: readonly string[] = [],
): Family {
  return {
    name,
    type: 'gauge',
    help,
    labels: [...WHO, ...split],
    read: (scrape) =>
      read(scrape)?.map(([labels, value]): Line => [{ ...whoOf(scrape), ...labels }, value]),
  }
}

/** All queues of the last complete interval as one row. */
function allQueues({ finished }: Scrape): QueueFigures | undefined {
  if (finished === undefined) return undefined
  const sum = noFigures()
  for (const figures of finished.queues.values()) addFigures(sum, figures)
  return sum
}

/** Columns of the last complete interval by the value of one label, scaled to one minute. */
function perMinute(
  label: string,
  columns: Readonly<Record<string, QueueColumn>>,
): (scrape: Scrape) => readonly Line[] | undefined {
  return (scrape) => {
    const sum = allQueues(scrape)
    return (
      sum &&
      Object.entries(columns).map(([value, column]): Line => {
        return [{ [label]: value }, (sum[column] * 60_000) / scrape.intervalMs]
      })
    )
  }
}

/** One column of the last complete interval, scaled to one minute. */
function perMinuteOf(column: QueueColumn): (scrape: Scrape) => readonly Line[] | undefined {
  return (scrape) => {
    const sum = allQueues(scrape)
    return sum && [[{}, (sum[column] * 60_000) / scrape.intervalMs]]
  }
}

/** The load of this process. Queue API page, section 12. */
export const WORKER_FAMILIES: readonly Family[] = [
  gauge(
    'queen_worker_event_loop_lag_milliseconds',
    'How late the event loop was since the last sample.',
    ({ process }) => [
      [{ stat: 'avg' }, process.eventLoopLagMs],
      [{ stat: 'max' }, process.eventLoopLagMaxMs],
    ],
    ['stat'],
  ),
  gauge('queen_worker_free_slots', 'Writes that would still be taken now.', ({ broker }) => [
    [{}, broker.freeSlots],
  ]),
  gauge('queen_worker_db_connections', 'Connections to the store.', ({ broker }) => [
    [{}, broker.storeConnections],
  ]),
  gauge('queen_worker_job_queue_size', 'Writes that wait for a commit.', ({ broker }) => [
    [{}, broker.pendingWrites],
  ]),
  gauge('queen_worker_backoff_size', 'Pops that wait for messages.', ({ parked }) => [
    [{}, [...parked.values()].reduce((sum, pops) => sum + pops, 0)],
  ]),
  gauge(
    'queen_worker_jobs_done_per_minute',
    'Requests to the queue in the last complete minute.',
    (scrape) => {
      const sum = allQueues(scrape)
      if (sum === undefined) return undefined
      const requests = sum.pushRequests + sum.popRequests + sum.ackRequests
      return [[{}, (requests * 60_000) / scrape.intervalMs]]
    },
  ),
  gauge(
    'queen_worker_requests_per_minute',
    'Requests in the last complete minute.',
    perMinute('op', { push: 'pushRequests', pop: 'popRequests', ack: 'ackRequests' }),
    ['op'],
  ),
  gauge(
    'queen_worker_messages_per_minute',
    'Messages in the last complete minute.',
    perMinute('op', { push: 'pushMessages', pop: 'popMessages', ack: 'ackSuccess' }),
    ['op'],
  ),
  gauge(
    'queen_worker_ack_per_minute',
    'Messages acknowledged in the last complete minute.',
    perMinute('result', { success: 'ackSuccess', failed: 'ackFailed' }),
    ['result'],
  ),
  gauge(
    'queen_worker_lag_milliseconds',
    'Time between commit and delivery of the messages of the last complete minute.',
    (scrape) => {
      const sum = allQueues(scrape)
      return (
        sum && [
          [{ stat: 'avg' }, mean(sum.lagSumMs, sum.lagCount)],
          [{ stat: 'max' }, sum.lagMaxMs],
        ]
      )
    },
    ['stat'],
  ),
  gauge(
    'queen_worker_db_errors_per_minute',
    'Requests that the store could not serve in the last complete minute.',
    perMinuteOf('storeErrors'),
  ),
  gauge(
    'queen_worker_dlq_per_minute',
    'Messages moved to the dead-letter queue in the last complete minute.',
    perMinuteOf('dlqMessages'),
  ),
  gauge(
    'queen_worker_metrics_age_seconds',
    'Age of the per-minute figures of this process.',
    ({ finished, nowMs }) => finished && [[{}, (nowMs - finished.endedMs) / 1000]],
  ),
]
