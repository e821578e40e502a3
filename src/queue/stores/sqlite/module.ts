import { z } from 'zod'
import { readMigrations, type StoreModule } from '../../../storage/index.ts'
import { openQueueSession } from './session.ts'

const options = z.object({ encryptionKey: z.string() })

/** The queue's part of the embedded store. */
export const storeModule: StoreModule = {
  name: 'queue',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
  open: (db, given) => openQueueSession(db, options.parse(given)),
}
