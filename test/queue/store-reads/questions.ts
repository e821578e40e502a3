import type {
  MessageFilter,
  MessageStatus,
  QueueStore,
  ReadKind,
  Reads,
} from '../../../src/queue/store.ts'
import { ALL_MESSAGES } from '../../support/queue-args.ts'

/** One read with its arguments. */
export type Question = {
  readonly [K in ReadKind]: { readonly kind: K; readonly args: Reads[K]['args'] }
}[ReadKind]

const STATUSES: readonly (MessageStatus | null)[] = [
  null,
  'pending',
  'processing',
  'completed',
  'dead_letter',
]

/** What of a store can be asked about. */
export interface Things {
  readonly queues: readonly string[]
  readonly groups: readonly string[]
  /** (partition id, transaction id) */
  readonly messages: readonly (readonly [string, string])[]
  /** Moments at which something was stored. */
  readonly momentsUs: readonly number[]
  readonly traceNames: readonly string[]
  readonly nowUs: number
}

/** Finds what a store holds. */
export async function thingsIn(store: QueueStore, nowUs: number): Promise<Things> {
  const all = { queue: null, partition: null, namespace: null, task: null, status: null }
  const filter = { ...all, fromUs: null, toUs: null, limit: 1000, offset: 0, nowUs }
  const page = { namespace: null, task: null, search: null, limit: null, offset: 0, nowUs }
  const messages = (await store.read('messages', filter)).rows
  const names = await store.read('traceNames', { limit: 100, offset: 0 })
  return {
    queues: [...(await store.read('queues', page)).rows.map(({ name }) => name), 'nowhere'],
    groups: [...new Set((await store.read('groups', { nowUs })).map(({ group }) => group)), '?'],
    messages: messages.map(({ partitionId, transactionId }) => [partitionId, transactionId]),
    momentsUs: messages.map(({ createdAtUs }) => createdAtUs),
    traceNames: [...names.rows.map(({ name }) => name), '?'],
    nowUs,
  }
}

function messageQuestions({ queues, momentsUs, nowUs }: Things): readonly Question[] {
  const base: MessageFilter = { ...ALL_MESSAGES, nowUs }
  const middle = momentsUs[Math.floor(momentsUs.length / 2)] ?? nowUs
  const late = momentsUs[Math.floor(momentsUs.length / 4)] ?? nowUs
  const filters: readonly Partial<MessageFilter>[] = [
    {},
    { limit: 3 },
    { limit: 3, offset: 2 },
    { limit: 2, offset: 500 },
    { limit: 0 },
    { fromUs: middle },
    { toUs: middle },
    { toUs: middle - 1 },
    { fromUs: middle, toUs: late },
    { fromUs: middle + 1, toUs: late, limit: 2 },
    { fromUs: nowUs + 1 },
    { toUs: 1 },
    { partition: 'p1' },
    { namespace: 'a' },
    { task: 'x', partition: 'p2' },
    ...queues.map((queue) => ({ queue })),
  ]
  return filters.flatMap((filter) =>
    STATUSES.map((status): Question => {
      return { kind: 'messages', args: { ...base, ...filter, status } }
    }),
  )
}

function listQuestions({ queues, groups, nowUs }: Things): readonly Question[] {
  const all = { namespace: null, task: null, search: null, limit: null, offset: 0, nowUs }
  const pages = [{}, { limit: 1, offset: 1 }, { namespace: 'a' }, { task: 'x' }, { search: '.' }]
  return [
    ...pages.map((page): Question => ({ kind: 'queues', args: { ...all, ...page } })),
    ...queues.flatMap((queue): readonly Question[] => [
      { kind: 'queueDetail', args: { queue, nowUs } },
      { kind: 'partitions', args: { queue, limit: 2, offset: 1, nowUs } },
      { kind: 'status', args: { queue, namespace: null, task: null, nowUs } },
      { kind: 'queueOptions', args: { queue } },
      ...['', ...groups].map((group): Question => {
        return { kind: 'depth', args: { queue, group, nowUs } }
      }),
    ]),
    { kind: 'partitions', args: { queue: null, limit: 100, offset: 0, nowUs } },
    { kind: 'status', args: { queue: null, namespace: 'a', task: null, nowUs } },
    { kind: 'status', args: { queue: null, namespace: null, task: 'x', nowUs } },
    { kind: 'namespaces', args: { nowUs } },
    { kind: 'tasks', args: { nowUs } },
    { kind: 'overview', args: { nowUs } },
    { kind: 'counters', args: { nowUs } },
    { kind: 'groups', args: { nowUs } },
    ...[0, 3, 3600].map((minLagSeconds): Question => {
      return { kind: 'lagging', args: { minLagSeconds, nowUs } }
    }),
    ...groups.map((group): Question => ({ kind: 'groupDetail', args: { group, nowUs } })),
    { kind: 'flags', args: null },
    { kind: 'partitionCounts', args: null },
    { kind: 'oldestUnread', args: null },
    { kind: 'buffer', args: null },
  ]
}

function dlqQuestions({ queues, groups, momentsUs }: Things): readonly Question[] {
  const all = { queue: null, group: null, partition: null, fromUs: null, toUs: null }
  const moment = momentsUs[0] ?? 0
  const filters = [
    {},
    { limit: 1, offset: 1 },
    { partition: 'p1' },
    { fromUs: moment },
    { toUs: moment },
    ...queues.map((queue) => ({ queue })),
    ...groups.map((group) => ({ group })),
  ]
  return filters.map((filter): Question => {
    return { kind: 'dlq', args: { ...all, limit: 100, offset: 0, ...filter } }
  })
}

function traceQuestions({ messages, traceNames, momentsUs }: Things): readonly Question[] {
  const page = { limit: 10, offset: 0 }
  const span = { fromUs: momentsUs.at(-1) ?? 0, toUs: momentsUs[0] ?? 0 }
  return [
    ...messages.map(([partitionId, transactionId]): Question => {
      return { kind: 'messageTraces', args: { partitionId, transactionId } }
    }),
    { kind: 'traceNames', args: page },
    { kind: 'traceNames', args: { limit: 1, offset: 1 } },
    ...traceNames.flatMap((name): readonly Question[] => [
      { kind: 'tracesByName', args: { name, fromUs: null, toUs: null, ...page } },
      { kind: 'tracesByName', args: { name, ...span, limit: 1, offset: 1 } },
    ]),
  ]
}

/** Everything that can be asked about these things. */
export function questionsAbout(things: Things): readonly Question[] {
  const { messages, nowUs } = things
  return [
    ...listQuestions(things),
    ...messageQuestions(things),
    ...[...messages, ['?', '?'] as const].map(([partitionId, transactionId]): Question => {
      return { kind: 'message', args: { partitionId, transactionId, nowUs } }
    }),
    ...dlqQuestions(things),
    ...traceQuestions(things),
  ]
}
