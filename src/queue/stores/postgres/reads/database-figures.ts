import type { Statements } from '../../../../storage/index.ts'
import type { DatabaseFigures, FigureRow } from '../../../store.ts'

const OURS = `WHERE schemaname = 'hivegate'`
/** Share of `part` in `whole`, from 0 to 1; null when there was nothing. */
const share = (part: string, whole: string): string =>
  `round((${part})::numeric / nullif(${whole}, 0), 4)::float8`

/** Statements that answer rows, by the field they fill. The busiest, largest or most worn come first. */
const LISTS = {
  tableCache: `SELECT relname AS "table", heap_blks_read AS "read", heap_blks_hit AS "hit",
      ${share('heap_blks_hit', 'heap_blks_hit + heap_blks_read')} AS "hitRatio"
    FROM pg_statio_user_tables ${OURS} ORDER BY heap_blks_hit + heap_blks_read DESC, relname`,
  indexCache: `SELECT relname AS "table", indexrelname AS "index", idx_blks_read AS "read",
      idx_blks_hit AS "hit", ${share('idx_blks_hit', 'idx_blks_hit + idx_blks_read')} AS "hitRatio"
    FROM pg_statio_user_indexes ${OURS} ORDER BY idx_blks_hit + idx_blks_read DESC, indexrelname`,
  deadTuples: `SELECT relname AS "table", n_live_tup AS "live", n_dead_tup AS "dead",
      ${share('n_dead_tup', 'n_live_tup + n_dead_tup')} AS "deadRatio"
    FROM pg_stat_user_tables ${OURS} ORDER BY n_dead_tup DESC, relname`,
  hotUpdates: `SELECT relname AS "table", n_tup_upd AS "updates", n_tup_hot_upd AS "hot",
      ${share('n_tup_hot_upd', 'n_tup_upd')} AS "hotRatio"
    FROM pg_stat_user_tables ${OURS} ORDER BY n_tup_upd DESC, relname`,
  // Only of our own connections: other programs may have secrets in the text of theirs.
  activeQueries: `SELECT pid, state, wait_event_type AS "waitType", wait_event AS "wait",
      round(extract(epoch FROM clock_timestamp() - query_start)::numeric * 1000, 1)::float8 AS "ms",
      left(query, 200) AS "query"
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'hivegate%'
      AND state <> 'idle' AND pid <> pg_backend_pid() ORDER BY query_start`,
  autovacuumStatus: `SELECT relname AS "table", last_vacuum::text AS "lastVacuum",
      last_autovacuum::text AS "lastAutovacuum", last_autoanalyze::text AS "lastAutoanalyze",
      autovacuum_count AS "autovacuums"
    FROM pg_stat_user_tables ${OURS} ORDER BY relname`,
  tableSizes: `SELECT relname AS "table", pg_table_size(relid) AS "tableBytes",
      pg_indexes_size(relid) AS "indexBytes", pg_total_relation_size(relid) AS "totalBytes"
    FROM pg_stat_user_tables ${OURS} ORDER BY pg_total_relation_size(relid) DESC, relname`,
} as const

/** Statements that answer exactly one row. */
const SINGLES = {
  databaseCache: `SELECT blks_read AS "read", blks_hit AS "hit",
      ${share('blks_hit', 'blks_hit + blks_read')} AS "hitRatio", xact_commit AS "commits",
      xact_rollback AS "rollbacks", deadlocks FROM pg_stat_database WHERE datname = current_database()`,
  cacheSummary: `SELECT sum(heap_blks_read)::float8 AS "heapRead", sum(heap_blks_hit)::float8 AS "heapHit",
      sum(idx_blks_read)::float8 AS "indexRead", sum(idx_blks_hit)::float8 AS "indexHit"
    FROM pg_statio_user_tables ${OURS}`,
  bufferConfig: `SELECT current_setting('shared_buffers') AS "sharedBuffers",
      current_setting('effective_cache_size') AS "effectiveCacheSize",
      current_setting('work_mem') AS "workMem",
      current_setting('maintenance_work_mem') AS "maintenanceWorkMem"`,
} as const

/** What the server counts about our tables. Which buffers hold what would need an extension: none is listed. */
export async function readDatabaseFigures(db: Statements): Promise<DatabaseFigures> {
  const list = (name: keyof typeof LISTS) => db.rows<FigureRow>(`stats_${name}`, LISTS[name])
  const single = async (name: keyof typeof SINGLES) =>
    (await db.rows<FigureRow>(`stats_${name}`, SINGLES[name]))[0] ?? {}
  const [named] = await db.rows<{ database: string }>(
    'stats_database',
    'SELECT current_database() AS database',
  )
  return {
    database: named?.database ?? '',
    databaseCache: await single('databaseCache'),
    tableCache: await list('tableCache'),
    indexCache: await list('indexCache'),
    cacheSummary: await single('cacheSummary'),
    deadTuples: await list('deadTuples'),
    hotUpdates: await list('hotUpdates'),
    activeQueries: await list('activeQueries'),
    autovacuumStatus: await list('autovacuumStatus'),
    bufferConfig: await single('bufferConfig'),
    bufferUsage: [],
    tableSizes: await list('tableSizes'),
  }
}
