import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { checkName, isoMicros, isoMicrosOrNull } from '../model.ts'
import {
  deleteGroup,
  deleteGroupOfQueue,
  laggingGroups,
  listGroups,
  moveSubscription,
  showGroup,
} from '../shapes/groups.ts'
import type { CursorRow, GroupRow } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, pathParam, queryOf } from './request.ts'
import { requiredMicros } from './times.ts'

/** Queue API 7.2: above this a group counts as lagging. */
const LAGGING_S = 300
const SECONDS_PER_HOUR = 3600

function stateOf({ members, maxTimeLagSeconds }: GroupRow): string {
  if (members === 0) return 'Dead'
  return maxTimeLagSeconds > LAGGING_S ? 'Lagging' : 'Stable'
}

function groupEntry(row: GroupRow) {
  return {
    name: row.group,
    topics: [row.queue],
    queueName: row.queue,
    members: row.members,
    partitionsWithLag: row.partitionsWithLag,
    totalLag: row.totalLag,
    maxTimeLag: row.maxTimeLagSeconds,
    state: stateOf(row),
    subscriptionMode: row.subscriptionMode,
    subscriptionTimestamp: isoMicrosOrNull(row.subscriptionFromUs),
    subscriptionCreatedAt: isoMicrosOrNull(row.subscribedAtUs),
  }
}

function laggingEntry(row: CursorRow) {
  return {
    consumer_group: row.group,
    queue_name: row.queue,
    partition_name: row.partition,
    partition_id: row.partitionId,
    worker_id: null,
    offset_lag: row.offsetLag,
    time_lag_seconds: row.timeLagSeconds,
    lag_hours: Math.round((row.timeLagSeconds / SECONDS_PER_HOUR) * 100) / 100,
    oldest_unconsumed_at: isoMicrosOrNull(row.oldestUnconsumedUs),
    last_consumed_at: isoMicrosOrNull(row.lastConsumedAtUs),
  }
}

function cursorEntry(row: CursorRow) {
  return {
    partition: row.partition,
    workerId: null,
    lastConsumedAt: isoMicrosOrNull(row.lastConsumedAtUs),
    totalConsumed: row.totalConsumed,
    offsetLag: row.offsetLag,
    timeLagSeconds: row.timeLagSeconds,
    leaseActive: row.leaseActive,
  }
}

/** Keyed by queue name; built from entries, so that a queue named `__proto__` is a key like any other. */
function byQueue(rows: readonly CursorRow[]) {
  const queues = Map.groupBy(rows, (row) => row.queue)
  return Object.fromEntries(
    [...queues].map(([queue, own]) => [queue, { partitions: own.map(cursorEntry) }]),
  )
}

/** Listing consumer groups. Queue API 7.2 to 7.4. */
export function groupListRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(listGroups.path, async (_req, res) => {
    answerJson(res, 200, (await engine.read('groups', {})).map(groupEntry))
  })
  router.get(laggingGroups.path, async (req, res) => {
    const { minLagSeconds } = queryOf(laggingGroups.query, req)
    const rows = await engine.read('lagging', { minLagSeconds })
    answerJson(res, 200, rows.map(laggingEntry))
  })
  router.get(showGroup.path, async (req, res) => {
    const group = checkName('group', pathParam(req, 'group'))
    answerJson(res, 200, byQueue(await engine.read('groupDetail', { group })))
  })
}

/** Deleting groups and moving their subscriptions. Queue API 7.5 and 7.6. */
export function groupChangeRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine } = parts
  router.delete(deleteGroup.path, async (req, res) => {
    const consumerGroup = checkName('group', pathParam(req, 'group'))
    const { deleteMetadata } = queryOf(deleteGroup.query, req)
    const counts = await engine.deleteGroup(consumerGroup, null, deleteMetadata)
    answerJson(res, 200, { success: true, consumerGroup, ...counts })
  })
  router.delete(deleteGroupOfQueue.path, async (req, res) => {
    const consumerGroup = checkName('group', pathParam(req, 'group'))
    const queueName = checkName('queue', pathParam(req, 'queue'))
    const { deleteMetadata } = queryOf(deleteGroupOfQueue.query, req)
    const counts = await engine.deleteGroup(consumerGroup, queueName, deleteMetadata)
    answerJson(res, 200, { success: true, consumerGroup, queueName, ...counts })
  })
  router.post(moveSubscription.path, async (req, res) => {
    const consumerGroup = checkName('group', pathParam(req, 'group'))
    const body = await bodyOf(moveSubscription.body, req, res, parts.maxBodyBytes)
    const startAtUs = requiredMicros(body.subscriptionTimestamp, 'subscriptionTimestamp')
    const { rowsUpdated } = await engine.updateSubscription(consumerGroup, startAtUs)
    const newTimestamp = isoMicros(startAtUs)
    answerJson(res, 200, { success: true, consumerGroup, newTimestamp, rowsUpdated })
  })
}
