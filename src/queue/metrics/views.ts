import type { ProcessPoint, QueuePoint } from '../store-ops.ts'
import type { Gauge, QueueFigures, SampledMinute } from './columns.ts'
import { type Bucket, joinBy, sumBy } from './series.ts'
import { mean, perSecond } from './span.ts'

const BYTES_PER_MB = 1_048_576

/** The mean of a gauge over the samples; zero without any. */
export function meanOf(sampled: SampledMinute | undefined, gauge: Gauge): number {
  return sampled === undefined ? 0 : mean(sampled.gauges[gauge].sum, sampled.samples)
}

function highest(sampled: SampledMinute | undefined, gauge: Gauge): number {
  return sampled?.gauges[gauge].max ?? 0
}

function lowest(sampled: SampledMinute | undefined, gauge: Gauge): number {
  return sampled?.gauges[gauge].min ?? 0
}

/** Time between commit and delivery in ms, as every view shows it. */
export function lagOf(figures: QueueFigures) {
  return {
    avgLagMs: mean(figures.lagSumMs, figures.lagCount),
    maxLagMs: figures.lagMaxMs,
  }
}

function loopLagOf(sampled: SampledMinute | undefined) {
  return {
    avgEventLoopLagMs: meanOf(sampled, 'eventLoopLagMs'),
    maxEventLoopLagMs: highest(sampled, 'eventLoopLagMaxMs'),
  }
}

/** CPU time of the samples as a share of the time they cover, in percent of one core. */
function cpuPercent(sampled: SampledMinute | undefined, gauge: Gauge, sampleMs: number): number {
  return mean(meanOf(sampled, gauge) * 100, sampleMs * 1000)
}

/** One point of `throughput`. Queue API 11.1. `sampleMs`: time between two samples. */
export function throughputPoint(bucket: Bucket, bucketMinutes: number, sampleMs: number) {
  const { figures, sampled, atMs } = bucket
  return {
    timestamp: new Date(atMs).toISOString(),
    ingested: figures.pushMessages,
    processed: figures.ackSuccess,
    popMessages: figures.popMessages,
    ingestedPerSecond: perSecond(figures.pushMessages, bucketMinutes),
    processedPerSecond: perSecond(figures.ackSuccess, bucketMinutes),
    popPerSecond: perSecond(figures.popMessages, bucketMinutes),
    ...lagOf(figures),
    ...loopLagOf(sampled),
    minFreeSlots: lowest(sampled, 'freeSlots'),
    dbErrors: figures.storeErrors,
    ackFailed: figures.ackFailed,
    dlqCount: figures.dlqMessages,
    queenCpuUserPct: cpuPercent(sampled, 'cpuUserUs', sampleMs),
    queenCpuSysPct: cpuPercent(sampled, 'cpuSystemUs', sampleMs),
    queenRssMb: mean(meanOf(sampled, 'rssBytes'), BYTES_PER_MB),
    dbPoolActive: Math.round(meanOf(sampled, 'storeActive')),
    dbPoolIdle: Math.round(meanOf(sampled, 'storeIdle')),
    dbPoolSize: Math.round(meanOf(sampled, 'storeConnections')),
  }
}

/** One point of `timeSeries`. Queue API 11.2. */
export function workerPoint(bucket: Bucket, bucketMinutes: number) {
  const { figures, sampled, atMs } = bucket
  const acked = figures.ackSuccess + figures.ackFailed
  return {
    timestamp: new Date(atMs).toISOString(),
    pushMessages: figures.pushMessages,
    popMessages: figures.popMessages,
    ackMessages: acked,
    pushRequests: figures.pushRequests,
    popRequests: figures.popRequests,
    ackRequests: figures.ackRequests,
    jobsDone: figures.pushRequests + figures.popRequests + figures.ackRequests,
    pushPerSecond: perSecond(figures.pushMessages, bucketMinutes),
    popPerSecond: perSecond(figures.popMessages, bucketMinutes),
    ackPerSecond: perSecond(acked, bucketMinutes),
    ...loopLagOf(sampled),
    avgFreeSlots: meanOf(sampled, 'freeSlots'),
    minFreeSlots: lowest(sampled, 'freeSlots'),
    dbConnections: Math.round(meanOf(sampled, 'storeConnections')),
    avgJobQueueSize: meanOf(sampled, 'pendingWrites'),
    maxJobQueueSize: highest(sampled, 'pendingWrites'),
    backoffSize: highest(sampled, 'parkedPops'),
    ...lagOf(figures),
    lagCount: figures.lagCount,
    dbErrors: figures.storeErrors,
    ackSuccess: figures.ackSuccess,
    ackFailed: figures.ackFailed,
    dlqCount: figures.dlqMessages,
  }
}

/** One row of `workers`, with when the process was last heard of. Queue API 11.1 and 11.2. */
export function workerRows(
  queuePoints: readonly QueuePoint[],
  processPoints: readonly ProcessPoint[],
) {
  const nameOf = (hostname: string, workerId: string) => JSON.stringify([hostname, workerId])
  const counted = sumBy(queuePoints, (point) => nameOf(point.hostname, point.workerId))
  const sampled = joinBy(processPoints, ({ process }) => nameOf(process.hostname, process.workerId))
  const latest = new Map(
    processPoints.map((point) => {
      return [nameOf(point.process.hostname, point.process.workerId), point] as const
    }),
  )
  return [...latest].map(([name, { process, bucketMs }]) => {
    const figures = counted.get(name)
    const gauges = sampled.get(name)
    return {
      worker: {
        hostname: process.hostname,
        workerId: process.workerId,
        ...loopLagOf(gauges),
        freeSlots: gauges?.gauges.freeSlots.last ?? 0,
        dbConnections: gauges?.gauges.storeConnections.last ?? 0,
        jobQueueSize: gauges?.gauges.pendingWrites.last ?? 0,
        messagesProcessed: figures === undefined ? 0 : figures.pushMessages + figures.popMessages,
      },
      backoffSize: gauges?.gauges.parkedPops.last ?? 0,
      lastSeen: new Date(bucketMs).toISOString(),
    }
  })
}

/** Messages per request, to a thousandth: 1 means no batching. */
export function batchEfficiency(figures: QueueFigures) {
  return {
    push: mean(figures.pushMessages, figures.pushRequests),
    pop: mean(figures.popMessages, figures.popRequests - figures.popEmpty),
    ack: mean(figures.ackSuccess + figures.ackFailed, figures.ackRequests),
  }
}
