import { columns, type MovedTable } from '../../../storage/index.ts'
import { DEFAULT_OPTIONS } from '../../model.ts'

/** Options in the text form of `jsonb`: shorter names first, then by their bytes. */
function optionsText(stored: string): string {
  const given: Record<string, unknown> = JSON.parse(stored)
  const options: Record<string, unknown> = { ...DEFAULT_OPTIONS, ...given }
  const names = Object.keys(options).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const members = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(options[name])}`)
  return `{${members.join(', ')}}`
}

/** Totals go to one of the 16 rows that PostgreSQL keeps for each. */
const SLOT = { name: 'slot', type: 'bigint', from: '0' } as const

/** Value of a column of the newest message of partition `t`. */
const newest = (column: string) =>
  `(SELECT ${column} FROM message m WHERE m.partition_id = t.id ORDER BY m.position DESC LIMIT 1)`

/**
 * PostgreSQL makes ids of a message's time, the embedded store counts up inside a millisecond: times go on above
 * the millisecond of the highest id, so that ids go on rising.
 */
const STAMP = `max(t.stamp_floor, coalesce(${newest('m.created_at')}, 0),
  1000 * (ms_of_id(max(coalesce(t.id_floor, ''), coalesce(${newest('m.id')}, ''))) + 1))`

/** Queues, partitions and messages. */
const CONTENT: readonly MovedTable[] = [
  {
    name: 'queue',
    key: ['id'],
    identity: 'id',
    columns: [
      ...columns('bigint', 'id', 'created_at', 'ghosts_until'),
      ...columns('text', 'uuid', 'name', 'namespace', 'task'),
      ...columns('boolean', 'deleted'),
      { name: 'options', type: 'jsonb', shape: optionsText },
      {
        name: 'stamp_floor',
        type: 'bigint',
        // What a group that takes only new messages is to see is stamped at or after its start.
        from: `coalesce((SELECT max(s.start_at) FROM subscription s
                 WHERE s.queue_id = t.id AND s.mode = 'new'), 0)`,
      },
    ],
  },
  {
    name: 'queue_total',
    source: 'queue',
    key: ['id'],
    columns: [
      { name: 'queue_id', type: 'bigint', from: 't.id' },
      SLOT,
      ...columns('bigint', 'partitions', 'pushed', 'stored', 'dead'),
    ],
  },
  {
    name: 'partition',
    key: ['id'],
    identity: 'id',
    columns: [
      ...columns('bigint', 'id', 'queue_id', 'created_at', 'head', 'holes'),
      ...columns('text', 'uuid', 'name'),
      {
        name: 'next',
        type: 'bigint',
        from: `max(t.next_floor, coalesce(${newest('m.position')} + 1, 1))`,
      },
      { name: 'stamp', type: 'bigint', from: STAMP },
    ],
  },
  {
    name: 'message',
    key: ['partition_id', 'position'],
    columns: [
      ...columns('bigint', 'partition_id', 'position', 'created_at'),
      ...columns('text', 'id', 'transaction_id', 'trace_id', 'producer_sub', 'payload'),
      ...columns('boolean', 'encrypted'),
    ],
  },
  {
    name: 'ghost',
    key: ['partition_id', 'transaction_id'],
    columns: [
      ...columns('bigint', 'partition_id', 'created_at', 'expires_at'),
      ...columns('text', 'transaction_id', 'message_id'),
    ],
  },
]

/** Groups, cursors and dead letters. */
const CONSUMPTION: readonly MovedTable[] = [
  {
    name: 'subscription',
    key: ['id'],
    identity: 'id',
    columns: [
      ...columns('bigint', 'id', 'queue_id', 'start_at', 'registered_at', 'born_after'),
      ...columns('text', 'queue_name', 'group_name', 'mode'),
    ],
  },
  {
    name: 'subscription_total',
    source: 'subscription',
    key: ['id'],
    columns: [
      { name: 'subscription_id', type: 'bigint', from: 't.id' },
      SLOT,
      ...columns('bigint', 'passed', 'members', 'consumed', 'failed'),
    ],
  },
  {
    name: 'cursor',
    key: ['partition_id', 'subscription_id'],
    columns: [
      ...columns(
        'bigint',
        'partition_id',
        'subscription_id',
        'position',
        'lease_until',
        'lease_end',
      ),
      ...columns(
        'bigint',
        'lease_left',
        'retry_count',
        'ready_at',
        'consumed',
        'batches',
        'failed',
      ),
      ...columns('bigint', 'consumed_at'),
      ...columns('boolean', 'started'),
      ...columns('text', 'lease_id'),
    ],
  },
  {
    name: 'dead_letter',
    key: ['id'],
    identity: 'id',
    columns: [
      ...columns('bigint', 'id', 'queue_id', 'partition_id', 'created_at', 'failed_at'),
      ...columns('bigint', 'retry_count'),
      ...columns('text', 'uuid', 'partition_uuid', 'partition_name', 'group_name', 'message_id'),
      ...columns('text', 'transaction_id', 'trace_id', 'producer_sub', 'payload', 'error'),
      ...columns('boolean', 'encrypted'),
    ],
  },
  { name: 'cleared_partition', key: ['partition_id'], columns: columns('bigint', 'partition_id') },
  {
    name: 'dropped_subscription',
    key: ['subscription_id'],
    columns: columns('bigint', 'subscription_id', 'queue_id', 'done_to'),
  },
]

/** Tables of the core queue. */
export const CORE_TABLES: readonly MovedTable[] = [...CONTENT, ...CONSUMPTION]
