import { openStores, type Stores } from '../../src/assembly/stores.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/index.ts'
import { storeSettings } from './test-store.ts'

/** Opens the stores of a data folder, as a broker would, where this run wants its data. */
export async function openKeptStores(dataDir: string): Promise<Stores> {
  const settings = { DATA_DIR: dataDir, ...(await storeSettings(dataDir)) }
  return openStores(loadConfig(settings), createLog('error', { write: () => undefined }))
}
