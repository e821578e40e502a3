import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { bucketHead, ofQueue } from './analytics.ts'
import { count, json, time } from './values.ts'

const removed = {
  retentionMsgs: count,
  completedRetentionMsgs: count,
  evictionMsgs: count,
  totalMsgs: count,
  eventCount: count,
} as const

/** GET /api/v1/analytics/retention: what the background jobs deleted. */
export const retention = operation({
  method: 'GET',
  path: '/api/v1/analytics/retention',
  query: ofQueue,
  answers: {
    200: {
      about: 'Deleted messages by cause over time, and their sums.',
      json: z.strictObject({
        ...bucketHead,
        series: z.array(z.strictObject({ bucket: time, ...removed })),
        totals: z.strictObject(removed),
      }),
    },
  },
})

const rows = z.array(json)
const fields = z.record(z.string(), json)

/** GET /api/v1/analytics/postgres-stats: the database's own figures; empty with another store. */
export const postgresStats = operation({
  method: 'GET',
  path: '/api/v1/analytics/postgres-stats',
  answers: {
    200: {
      about: 'Figures of the database; `database` names the store.',
      json: z.strictObject({
        timestamp: time,
        database: z.string(),
        databaseCache: fields,
        tableCache: rows,
        indexCache: rows,
        cacheSummary: fields,
        deadTuples: rows,
        hotUpdates: rows,
        activeQueries: rows,
        autovacuumStatus: rows,
        bufferConfig: fields,
        bufferUsage: rows,
        tableSizes: rows,
      }),
    },
  },
})
