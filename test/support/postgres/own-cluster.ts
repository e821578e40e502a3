import { afterAll, beforeAll } from 'vitest'
import { createDatabase, type TestDatabase } from '../postgres.ts'
import { type ClusterAddress, pgCtl, removeCluster, serverFolder, startCluster } from './cluster.ts'

/** A server that belongs to one test file, which may break it. */
export interface OwnCluster {
  readonly address: ClusterAddress
  /** The server's own crash: no checkpoint, no goodbye. */
  crash(): Promise<void>
  start(): Promise<void>
  createDatabase(): Promise<TestDatabase>
}

/**
 * Gives the test file a server of its own, from before its first test to after its last. Hooks of the file that are
 * registered later run inside of that.
 */
export function ownCluster(settings = ''): OwnCluster {
  let address: ClusterAddress | undefined
  let folder: string | undefined
  const running = (): ClusterAddress => {
    if (address === undefined) throw new Error('the server of this file has not been started')
    return address
  }
  beforeAll(async () => {
    folder = await serverFolder()
    address = await startCluster(folder, settings)
  })
  afterAll(async () => {
    if (folder !== undefined) await removeCluster(folder)
  })
  return {
    get address() {
      return running()
    },
    crash: () => pgCtl(running(), 'stop', 'immediate'),
    start: () => pgCtl(running(), 'start'),
    createDatabase: () => createDatabase(running()),
  }
}
