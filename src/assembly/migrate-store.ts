import type { DatabaseUrl } from '../config/index.ts'
import { HUB_MOVE } from '../hub/index.ts'
import { ISSUER_MOVE } from '../issuer/index.ts'
import { QUEUE_MOVE } from '../queue/index.ts'
import { type MoveReport, type MoveStep, moveStore, StoreLockedError } from '../storage/index.ts'
import { refuse } from './database-fault.ts'
import { sqliteModules } from './embedded.ts'
import { PG_MODULES, targetOf } from './postgres.ts'

/** From where to where a store is moved. */
export interface StoreMigration {
  /** `DATA_DIR` of the broker so far. */
  readonly from: string
  /** `DATABASE_URL` of the brokers to come. */
  readonly to: DatabaseUrl
  /** A transaction-mode pooler is in between. */
  readonly pooler: boolean
  readonly onProgress: (step: MoveStep) => void
}

/**
 * Copies queue, hub history and issuer tables of an embedded store into an empty PostgreSQL database.
 * @throws StoreLockedError while a broker runs on the folder; StoreMoveError; BootError for the database
 */
export async function migrateStore(migration: StoreMigration): Promise<MoveReport> {
  const { from, to, pooler, onProgress } = migration
  const target = targetOf('DATABASE_URL', to)
  try {
    return await moveStore({
      dataDir: from,
      // Payloads stay as they are stored, encrypted or not.
      sources: sqliteModules(''),
      target: { target, modules: PG_MODULES, pooler },
      wings: [QUEUE_MOVE, HUB_MOVE, ISSUER_MOVE],
      onProgress,
    })
  } catch (error) {
    if (error instanceof StoreLockedError) throw error
    return refuse(to, error)
  }
}
