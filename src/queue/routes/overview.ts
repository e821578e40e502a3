import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { listNamespaces, listTasks, overview } from '../shapes/resources.ts'
import type { LabelRow } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { sixOf } from './resources.ts'

function figuresOf({ queues, partitions, total, pending }: LabelRow) {
  return { queues, partitions, messages: { total, pending } }
}

/** Sums over namespaces, tasks and the whole broker. Queue API 9. */
export function overviewRoutes(router: Router, { engine, clock }: QueueRouteParts): void {
  router.get(listNamespaces.path, async (_req, res) => {
    const rows = await engine.read('namespaces', {})
    const namespaces = rows.map((row) => ({ namespace: row.label, ...figuresOf(row) }))
    answerJson(res, 200, { namespaces })
  })
  router.get(listTasks.path, async (_req, res) => {
    const rows = await engine.read('tasks', {})
    answerJson(res, 200, { tasks: rows.map((row) => ({ task: row.label, ...figuresOf(row) })) })
  })
  router.get(overview.path, async (_req, res) => {
    const figures = await engine.read('overview', {})
    const { queues, partitions, namespaces, tasks } = figures
    const { pushedPerSecond, ackedPerSecond } = engine.rates()
    answerJson(res, 200, {
      queues,
      partitions,
      namespaces,
      tasks,
      messages: sixOf(figures.counts),
      lag: { time: figures.timeLag, offset: figures.offsetLag },
      throughput: { ingestedPerSecond: pushedPerSecond, processedPerSecond: ackedPerSecond },
      timestamp: new Date(clock.now()).toISOString(),
      // The figures are counted at each call.
      statsAge: 0,
    })
  })
}
