import type { QueueColumn } from '../columns.ts'
import { bounded, type Family, type Line, type Scrape } from './family.ts'

const CLUSTER = { scope: 'cluster' } as const

function total(name: string, help: string, column: QueueColumn): Family {
  return {
    name,
    type: 'counter',
    help,
    labels: ['scope'],
    read: ({ store }) => store && [[CLUSTER, store.totals[column]]],
  }
}

function deadLetters({ store }: Scrape): number | undefined {
  return store?.deadLetters.reduce((sum, [, messages]) => sum + messages, 0)
}

/** Sums over all processes that share the store. Queue API page, section 12. */
export const CLUSTER_FAMILIES: readonly Family[] = [
  total('queen_cluster_push_requests_total', 'Push requests.', 'pushRequests'),
  total('queen_cluster_pop_requests_total', 'Pop requests.', 'popRequests'),
  total('queen_cluster_ack_requests_total', 'Ack requests.', 'ackRequests'),
  total('queen_cluster_transactions_total', 'Committed transactions.', 'transactions'),
  total('queen_cluster_push_messages_total', 'Messages stored by pushes.', 'pushMessages'),
  total('queen_cluster_pop_messages_total', 'Messages delivered.', 'popMessages'),
  {
    name: 'queen_cluster_ack_messages_total',
    type: 'counter',
    help: 'Messages acknowledged, whatever the result.',
    labels: ['scope'],
    read: ({ store }) => store && [[CLUSTER, store.totals.ackSuccess + store.totals.ackFailed]],
  },
  {
    name: 'queen_cluster_ack_total',
    type: 'counter',
    help: 'Messages acknowledged by result.',
    labels: ['scope', 'result'],
    read: ({ store }) =>
      store && [
        [{ ...CLUSTER, result: 'success' }, store.totals.ackSuccess],
        [{ ...CLUSTER, result: 'failed' }, store.totals.ackFailed],
      ],
  },
  total('queen_cluster_db_errors_total', 'Requests that the store could not serve.', 'storeErrors'),
  total('queen_cluster_dlq_total', 'Messages moved to the dead-letter queue.', 'dlqMessages'),
  {
    name: 'queen_dlq_depth',
    type: 'gauge',
    help: 'Dead letters stored.',
    labels: ['scope'],
    read: (scrape) => {
      const depth = deadLetters(scrape)
      return depth === undefined ? undefined : [[CLUSTER, depth]]
    },
  },
  {
    name: 'queen_dlq_depth_by_queue',
    type: 'gauge',
    help: 'Dead letters stored by queue.',
    labels: ['queue'],
    read: ({ store, maxQueues }) =>
      store &&
      bounded(store.deadLetters, maxQueues, (a, b) => a + b).map(
        ([queue, messages]): Line => [{ queue }, messages],
      ),
  },
]
