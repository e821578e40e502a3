import type { Statements, Tx } from '../../../../storage/index.ts'
import {
  QUEUE_COLUMN_NAMES,
  type QueueFigures,
  type SampledMinute,
} from '../../../metrics/columns.ts'
import { joinMinutes } from '../../../metrics/gauges.ts'
import type { ProcessPoint, QueuePoint, Reads, Writes } from '../../../store.ts'
import {
  FIGURE_COLUMNS,
  FOLDED_FIGURES,
  foldedInto,
  processPoints,
  queuePoint,
  type SampleColumns,
  SUMMED_COLUMNS,
  sampledOf,
  type TotalColumns,
  totalsOf,
} from '../../metric-rows.ts'
import { type Answer, quiet } from '../handler.ts'
import { conditions } from '../reads/conditions.ts'

type Batch = Writes['recordMetrics']['args']

const FIND_PROCESS = `SELECT id FROM hivegate.metric_process
  WHERE hostname = $1 AND worker_id = $2 AND port = $3`
const ADD_PROCESS = `INSERT INTO hivegate.metric_process (hostname, worker_id, port)
  VALUES ($1, $2, $3)
  ON CONFLICT (hostname, worker_id, port) DO UPDATE SET port = excluded.port RETURNING id`

async function processId(tx: Tx, { hostname, workerId, port }: Batch['process']) {
  const identity = [hostname, workerId, port]
  const [known] = await tx.rows<{ id: number }>('metric_process', FIND_PROCESS, identity)
  if (known !== undefined) return known.id
  const [made] = await tx.rows<{ id: number }>('metric_process_add', ADD_PROCESS, identity)
  return made?.id ?? 0
}

const ADD_QUEUES = `INSERT INTO hivegate.metric_queue AS m
    (at_ms, process_id, queue, ${FIGURE_COLUMNS.join(', ')})
  SELECT $1, $2, x.queue, ${FIGURE_COLUMNS.map((name) => `x.${name}`).join(', ')}
  FROM unnest($3::text[], ${FIGURE_COLUMNS.map((_, at) => `$${at + 4}::float8[]`).join(', ')})
    AS x (queue, ${FIGURE_COLUMNS.join(', ')}) ORDER BY x.queue COLLATE "C"
  ON CONFLICT (at_ms, process_id, queue) DO UPDATE SET ${foldedInto('m.', 'greatest')}`

// In the order of the names, so that two processes do not hold what the other waits for.
const ADD_TOTALS = `INSERT INTO hivegate.metric_total AS m (name, value)
  SELECT x.name, x.value FROM unnest($1::text[], $2::float8[]) AS x (name, value)
  ORDER BY x.name COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET value = m.value + excluded.value`

async function addTotals(tx: Tx, queues: Batch['queues']): Promise<void> {
  const sums = SUMMED_COLUMNS.map((name) => {
    return { name, value: queues.reduce((sum, [, figures]) => sum + figures[name], 0) }
  }).filter(({ value }) => value !== 0)
  if (sums.length === 0) return
  const values = [sums.map(({ name }) => name), sums.map(({ value }) => value)]
  await tx.rows('metric_total_add', ADD_TOTALS, values)
}

const CLAIM_SAMPLE = `INSERT INTO hivegate.metric_sample (at_ms, process_id, samples, gauges)
  VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING at_ms`
const FIND_SAMPLE = `SELECT samples, gauges FROM hivegate.metric_sample
  WHERE at_ms = $1 AND process_id = $2 FOR UPDATE`
const PUT_SAMPLE = `UPDATE hivegate.metric_sample SET samples = $3, gauges = $4
  WHERE at_ms = $1 AND process_id = $2`

async function addSample(tx: Tx, atMs: number, process: number, more: SampledMinute) {
  const valuesOf = ({ samples, gauges }: SampledMinute) => {
    return [atMs, process, samples, JSON.stringify(gauges)]
  }
  const first = await tx.rows('metric_sample_claim', CLAIM_SAMPLE, valuesOf(more))
  if (first.length > 0) return
  const [known] = await tx.rows<SampleColumns>('metric_sample', FIND_SAMPLE, [atMs, process])
  if (known === undefined) return
  await tx.rows('metric_sample_put', PUT_SAMPLE, valuesOf(joinMinutes(sampledOf(known), more)))
}

/** Adds to what the interval holds already. */
export async function recordMetrics(
  tx: Tx,
  { process, atMs, queues, sampled }: Batch,
): Promise<Answer<Writes['recordMetrics']['result']>> {
  const id = await processId(tx, process)
  if (queues.length > 0) {
    await tx.rows('metric_queue_add', ADD_QUEUES, [
      atMs,
      id,
      queues.map(([queue]) => queue),
      ...QUEUE_COLUMN_NAMES.map((name) => queues.map(([, figures]) => figures[name])),
    ])
  }
  if (sampled !== null) await addSample(tx, atMs, id, sampled)
  // Every process adds to these rows: last, so that nobody waits for them long.
  await addTotals(tx, queues)
  return quiet({ rows: queues.length })
}

const BUCKET = 'm.at_ms / $1::bigint * $1::bigint'

/** Oldest bucket first. */
export async function readQueueSeries(
  db: Statements,
  args: Reads['queueSeries']['args'],
): Promise<readonly QueuePoint[]> {
  const labels = conditions(
    [
      ['q.namespace = ?', args.namespace],
      ['q.task = ?', args.task],
      ['m.queue = ?', args.queue],
    ],
    3,
  )
  const labelled = args.namespace !== null || args.task !== null
  const [queue, group] = args.byQueue ? ['m.queue', 'm.queue, '] : ["''", '']
  const rows = await db.rows<Record<string, unknown>>(
    `queue_series_${labels.key}${args.byQueue ? '1' : '0'}`,
    `SELECT ${BUCKET} AS bucket, ${queue} AS queue, p.hostname, p.worker_id, ${FOLDED_FIGURES}
     FROM hivegate.metric_queue m JOIN hivegate.metric_process p ON p.id = m.process_id
     ${labelled ? 'JOIN hivegate.queue q ON q.name = m.queue AND NOT q.deleted' : ''}
     WHERE m.at_ms >= $2 AND m.at_ms <= $3 AND ${labels.sql}
     GROUP BY bucket, ${group} m.process_id, p.hostname, p.worker_id
     ORDER BY bucket, ${group} m.process_id`,
    [args.bucketMs, args.fromMs, args.toMs, ...labels.values],
  )
  return rows.map(queuePoint)
}

const SAMPLES = `SELECT ${BUCKET} AS bucket, p.hostname, p.worker_id, p.port, m.samples, m.gauges
  FROM hivegate.metric_sample m JOIN hivegate.metric_process p ON p.id = m.process_id
  WHERE m.at_ms >= $2 AND m.at_ms <= $3 ORDER BY m.at_ms, m.process_id`

/** Oldest bucket first. */
export async function readProcessSeries(
  db: Statements,
  { bucketMs, fromMs, toMs }: Reads['processSeries']['args'],
): Promise<readonly ProcessPoint[]> {
  return processPoints(
    await db.rows<SampleColumns>('process_series', SAMPLES, [bucketMs, fromMs, toMs]),
  )
}

/** Sums over all queues, processes and time. */
export async function readMetricTotals(db: Statements): Promise<QueueFigures> {
  return totalsOf(
    await db.rows<TotalColumns>('metric_totals', 'SELECT name, value FROM hivegate.metric_total'),
  )
}
