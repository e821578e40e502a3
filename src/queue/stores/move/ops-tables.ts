import { columns, type MovedTable } from '../../../storage/index.ts'
import { FIGURE_COLUMNS } from '../metric-rows.ts'

/** Traces, and what deleted partitions left to be done. */
const TRACES: readonly MovedTable[] = [
  {
    name: 'trace',
    key: ['id'],
    columns: [
      ...columns('bigint', 'partition_id', 'created_at'),
      ...columns('text', 'id', 'transaction_id', 'group_name', 'event_type', 'worker_id', 'data'),
    ],
  },
  { name: 'trace_tag', key: ['name', 'trace_id'], columns: columns('text', 'name', 'trace_id') },
  {
    name: 'trace_name',
    key: ['name'],
    columns: [
      ...columns('text', 'name'),
      { name: 'slot', type: 'bigint', from: '0' },
      ...columns('bigint', 'traces', 'messages', 'last_seen'),
    ],
  },
  {
    name: 'trace_name_message',
    key: ['name', 'partition_id', 'transaction_id'],
    columns: [
      ...columns('text', 'name', 'transaction_id'),
      ...columns('bigint', 'partition_id', 'traces'),
    ],
  },
  {
    name: 'gone_partition',
    key: ['partition_id'],
    columns: [...columns('bigint', 'partition_id'), ...columns('text', 'uuid')],
  },
]

/** Switches, and pushes that wait for the end of maintenance. */
const MAINTENANCE: readonly MovedTable[] = [
  {
    name: 'flag',
    key: ['name'],
    columns: [...columns('text', 'name'), ...columns('boolean', 'value')],
  },
  {
    name: 'buffered_push',
    key: ['seq'],
    identity: 'seq',
    columns: [
      ...columns('bigint', 'seq', 'buffered_at'),
      ...columns('text', 'queue', 'partition', 'namespace', 'task', 'message_id'),
      ...columns('text', 'transaction_id', 'trace_id', 'producer_sub', 'payload'),
      ...columns('boolean', 'encrypted', 'failed'),
    ],
  },
]

/** The history of metrics. */
const METRICS: readonly MovedTable[] = [
  {
    name: 'metric_process',
    key: ['id'],
    identity: 'id',
    columns: [...columns('bigint', 'id', 'port'), ...columns('text', 'hostname', 'worker_id')],
  },
  {
    name: 'metric_queue',
    key: ['at_ms', 'process_id', 'queue'],
    columns: [
      ...columns('bigint', 'at_ms', 'process_id'),
      ...columns('text', 'queue'),
      ...columns('double precision', ...FIGURE_COLUMNS),
    ],
  },
  {
    name: 'metric_sample',
    key: ['at_ms', 'process_id'],
    columns: [...columns('bigint', 'at_ms', 'process_id', 'samples'), ...columns('text', 'gauges')],
  },
  {
    name: 'metric_total',
    key: ['name'],
    columns: [...columns('text', 'name'), ...columns('double precision', 'value')],
  },
]

/** Registered queries and their state. */
const STREAMS: readonly MovedTable[] = [
  {
    name: 'stream_query',
    key: ['id'],
    identity: 'id',
    columns: [
      ...columns('bigint', 'id', 'created_at', 'updated_at'),
      ...columns('text', 'uuid', 'name', 'source_queue', 'sink_queue', 'config_hash'),
    ],
  },
  {
    name: 'stream_state',
    key: ['query_id', 'partition_uuid', 'key'],
    columns: [
      ...columns('bigint', 'query_id', 'updated_at'),
      ...columns('text', 'partition_uuid', 'key', 'value'),
      ...columns('double precision', 'window_end'),
    ],
  },
]

/** Tables of the operator's side and of streams. */
export const OPS_TABLES: readonly MovedTable[] = [...TRACES, ...MAINTENANCE, ...METRICS, ...STREAMS]
