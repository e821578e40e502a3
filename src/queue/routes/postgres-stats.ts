import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { postgresStats } from '../shapes/upkeep.ts'
import type { QueueRouteParts } from './parts.ts'

/** GET /api/v1/analytics/postgres-stats: with another store its name and nothing else. Queue API 11. */
export function postgresStatsRoutes(router: Router, { clock, store }: QueueRouteParts): void {
  router.get(postgresStats.path, (_req, res) => {
    answerJson(res, 200, {
      timestamp: new Date(clock.now()).toISOString(),
      database: store,
      databaseCache: {},
      tableCache: [],
      indexCache: [],
      cacheSummary: {},
      deadTuples: [],
      hotUpdates: [],
      activeQueries: [],
      autovacuumStatus: [],
      bufferConfig: {},
      bufferUsage: [],
      tableSizes: [],
    })
  })
}
