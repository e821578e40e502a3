import { onTestFinished } from 'vitest'
import { openKeptStores } from '../kept-stores.ts'
import { dropStore } from '../test-store.ts'
import { type RunningHub, type StartOptions, startHub, temporaryFolder } from './hub.ts'

/** Starts a hub whose history is kept in the store of the run; hubs of one folder share it, one after the other. */
export async function startKeptHub(
  options: Omit<StartOptions, 'kept'> = {},
  dataDir = temporaryFolder(),
): Promise<RunningHub> {
  onTestFinished(() => dropStore(dataDir))
  return startHub({ ...options, kept: await openKeptStores(dataDir) })
}
