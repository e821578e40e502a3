import type { TestProject } from 'vitest/node'
import { removeCluster, serverFolder } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster that the test files of this run share. */
    postgresFolder: string
  }
}

/** Names the folder of the shared cluster, and removes what was started in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await serverFolder()
  project.provide('postgresFolder', folder)
  return () => removeCluster(folder)
}
