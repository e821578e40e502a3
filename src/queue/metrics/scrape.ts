import type { QueueEngine } from '../engine/api.ts'
import { QUEUE_MODE } from '../model.ts'
import type { GroupRow, QueueCounters } from '../store.ts'
import type { Sample } from './columns.ts'
import type { Depth, Scrape, StoreFigures } from './families/family.ts'
import type { History } from './history.ts'
import type { MetricsRecorder, ProcessIdentity } from './recorder.ts'

/** What a scrape is gathered from. */
export interface ScrapeParts {
  readonly engine: QueueEngine
  readonly history: History
  readonly recorder: MetricsRecorder
  readonly identity: ProcessIdentity
  readonly clock: { now(): number }
  readonly intervalMs: number
  readonly maxQueues: number
  /** The newest sample of this process. */
  readonly latest: () => Sample
}

/** The groups that decide how far behind a queue is: queue mode alone where it is used, else all. */
function deciding(groups: readonly GroupRow[]): readonly GroupRow[] {
  const plain = groups.filter(({ group }) => group === QUEUE_MODE)
  return plain.length > 0 ? plain : groups
}

function depthsOf(
  queues: readonly QueueCounters[],
  groups: readonly GroupRow[],
  oldest: ReadonlyMap<string, number>,
  nowMs: number,
): readonly Depth[] {
  const byQueue = Map.groupBy(groups, ({ queue }) => queue)
  const ofQueues = queues.map(({ queue, counts }): Depth => {
    const consumers = deciding(byQueue.get(queue) ?? [])
    const storedSinceUs = oldest.get(queue)
    const unconsumedS =
      storedSinceUs === undefined ? 0 : Math.max(0, nowMs - storedSinceUs / 1000) / 1000
    const oldestAgeS =
      consumers.length === 0
        ? unconsumedS
        : Math.max(...consumers.map(({ maxTimeLagSeconds }) => maxTimeLagSeconds))
    return { queue, messages: counts.pending, oldestAgeS }
  })
  const ofGroups = groups.map(({ queue, group, totalLag, maxTimeLagSeconds }): Depth => {
    return { queue, group, messages: totalLag, oldestAgeS: maxTimeLagSeconds }
  })
  return [...ofQueues, ...ofGroups]
}

async function storeFigures(parts: ScrapeParts): Promise<StoreFigures> {
  const { engine, history, clock } = parts
  const [totals, queues, groups, oldest, buffer, flags] = await Promise.all([
    history.totals(),
    engine.read('counters', {}),
    engine.read('groups', {}),
    engine.read('oldestUnread', null),
    engine.read('buffer', null),
    engine.flags(),
  ])
  return {
    totals,
    depths: depthsOf(queues, groups, oldest, clock.now()),
    stored: queues.map(({ queue, counts }) => [queue, counts.total] as const),
    deadLetters: queues.map(({ queue, counts }) => [queue, counts.deadLetter] as const),
    buffer,
    pushMaintenance: flags.pushMaintenance,
  }
}

/** Gathers everything that one scrape shows; what only the store knows is absent while it is down. */
export async function gather(parts: ScrapeParts, brokerLimit: number): Promise<Scrape> {
  const { engine, recorder, identity, clock, latest } = parts
  const store = await storeFigures(parts).catch(() => undefined)
  const cpu = process.cpuUsage()
  const sample = latest()
  const { pendingWrites } = engine.counters()
  return {
    nowMs: clock.now(),
    identity,
    uptimeS: process.uptime(),
    maxQueues: parts.maxQueues,
    process: {
      rssBytes: process.memoryUsage.rss(),
      virtualBytes: sample.virtualBytes,
      cpuUserUs: cpu.user,
      cpuSystemUs: cpu.system,
      eventLoopLagMs: sample.eventLoopLagMs,
      eventLoopLagMaxMs: sample.eventLoopLagMaxMs,
    },
    broker: {
      storeConnections: sample.storeConnections,
      storeActive: sample.storeActive,
      pendingWrites,
      freeSlots: Math.max(0, brokerLimit - pendingWrites),
    },
    parked: engine.parked(),
    lifetime: recorder.lifetime,
    finished: recorder.finished,
    intervalMs: parts.intervalMs,
    store,
    spilled: engine.spilled(),
  }
}
