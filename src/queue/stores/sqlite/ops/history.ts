import type { DatabaseSync } from 'node:sqlite'
import {
  QUEUE_COLUMN_NAMES,
  type QueueFigures,
  type SampledMinute,
} from '../../../metrics/columns.ts'
import { joinMinutes } from '../../../metrics/gauges.ts'
import type { OpsReads, OpsWrites, QueuePoint } from '../../../store-ops.ts'
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
import { change, query } from '../rows.ts'

/** Writes of the history of metrics. */
export function historyWriter(db: DatabaseSync) {
  const process = query<{ id: number }>(
    db,
    `INSERT INTO metric_process (hostname, worker_id, port) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET port = port RETURNING id`,
  )
  const addQueue = change(
    db,
    `INSERT INTO metric_queue (at_ms, process_id, queue, ${FIGURE_COLUMNS.join(', ')})
     VALUES (?, ?, ?, ${FIGURE_COLUMNS.map(() => '?').join(', ')})
     ON CONFLICT (at_ms, process_id, queue) DO UPDATE SET
       ${foldedInto('', 'max')}`,
  )
  const sample = query<{ samples: number; gauges: string }>(
    db,
    'SELECT samples, gauges FROM metric_sample WHERE at_ms = ? AND process_id = ?',
  )
  const putSample = change(db, 'INSERT OR REPLACE INTO metric_sample VALUES (?, ?, ?, ?)')
  const addTotal = change(
    db,
    `INSERT INTO metric_total (name, value) VALUES (?1, ?2)
     ON CONFLICT (name) DO UPDATE SET value = value + ?2`,
  )
  const pruneQueues = change(
    db,
    `DELETE FROM metric_queue WHERE (at_ms, process_id, queue) IN
       (SELECT at_ms, process_id, queue FROM metric_queue WHERE at_ms < ? ORDER BY at_ms LIMIT ?)`,
  )
  const pruneSamples = change(
    db,
    `DELETE FROM metric_sample WHERE (at_ms, process_id) IN
       (SELECT at_ms, process_id FROM metric_sample WHERE at_ms < ? ORDER BY at_ms LIMIT ?)`,
  )

  function addSample(atMs: number, processId: number, more: SampledMinute): void {
    const known = sample.one(atMs, processId)
    const { samples, gauges } = known === undefined ? more : joinMinutes(sampledOf(known), more)
    putSample(atMs, processId, samples, JSON.stringify(gauges))
  }

  return {
    recordMetrics(args: OpsWrites['recordMetrics']['args']): OpsWrites['recordMetrics']['result'] {
      const { hostname, workerId, port } = args.process
      const processId = process.one(hostname, workerId, port)?.id ?? 0
      for (const [queue, figures] of args.queues) {
        const values = QUEUE_COLUMN_NAMES.map((name) => figures[name])
        addQueue(args.atMs, processId, queue, ...values)
        for (const name of SUMMED_COLUMNS) if (figures[name] !== 0) addTotal(name, figures[name])
      }
      if (args.sampled !== null) addSample(args.atMs, processId, args.sampled)
      return { rows: args.queues.length }
    },

    /** Removes up to `limit` rows of each kind that began before `beforeMs`. */
    prune: (beforeMs: number, limit: number): number =>
      pruneQueues(beforeMs, limit) + pruneSamples(beforeMs, limit),
  }
}

/** Numbers are bound as floats; the division has to be one of integers. */
const BUCKET = 'm.at_ms / CAST(?1 AS INTEGER) * CAST(?1 AS INTEGER)'

/** Reads of the history of metrics. */
export function historyReader(db: DatabaseSync) {
  const series = (queue: string, grouping: string) =>
    query<Record<string, unknown>>(
      db,
      `SELECT ${BUCKET} AS bucket, ${queue} AS queue, p.hostname, p.worker_id,
       ${FOLDED_FIGURES}
     FROM metric_queue m JOIN metric_process p ON p.id = m.process_id
     WHERE m.at_ms >= ?2 AND m.at_ms <= ?3 AND (?4 IS NULL OR m.queue = ?4)
       AND ((?5 IS NULL AND ?6 IS NULL) OR m.queue IN
         (SELECT name FROM queue WHERE deleted = 0 AND (?5 IS NULL OR namespace = ?5)
            AND (?6 IS NULL OR task = ?6)))
     GROUP BY ${grouping} ORDER BY ${grouping}`,
    )
  const byQueue = series('m.queue', 'bucket, m.queue, m.process_id')
  const together = series("''", 'bucket, m.process_id')
  const samples = query<SampleColumns>(
    db,
    `SELECT ${BUCKET} AS bucket, p.hostname, p.worker_id, p.port, m.samples, m.gauges
     FROM metric_sample m JOIN metric_process p ON p.id = m.process_id
     WHERE m.at_ms >= ?2 AND m.at_ms <= ?3 ORDER BY m.at_ms, m.process_id`,
  )
  const totals = query<TotalColumns>(db, 'SELECT name, value FROM metric_total')

  return {
    queueSeries(args: OpsReads['queueSeries']['args']): readonly QueuePoint[] {
      const { bucketMs, fromMs, toMs, queue, namespace, task } = args
      const rows = args.byQueue ? byQueue : together
      return rows.all(bucketMs, fromMs, toMs, queue, namespace, task).map(queuePoint)
    },

    processSeries({ bucketMs, fromMs, toMs }: OpsReads['processSeries']['args']) {
      return processPoints(samples.all(bucketMs, fromMs, toMs))
    },

    metricTotals(): QueueFigures {
      return totalsOf(totals.all())
    },
  }
}
