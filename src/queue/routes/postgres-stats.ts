import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { postgresStats } from '../shapes/upkeep.ts'
import type { DatabaseFigures } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'

const NOTHING: Omit<DatabaseFigures, 'database'> = {
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
}

/** GET /api/v1/analytics/postgres-stats: with another store its name and nothing else. Queue API 11. */
export function postgresStatsRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, clock, store } = parts
  router.get(postgresStats.path, async (_req, res) => {
    const figures = (await engine.read('databaseFigures', null)) ?? { database: store, ...NOTHING }
    answerJson(res, 200, { timestamp: new Date(clock.now()).toISOString(), ...figures })
  })
}
