import { machine } from '../harness/report.ts'
import { measureBrokers } from './brokers.ts'
import { compareStores } from './column.ts'
import { startPostgres } from './server.ts'
import { CALLERS, ROUNDS, SECONDS } from './setting.ts'
import { compareLibraries } from './side-by-side.ts'

/** The queue on PostgreSQL: beside the embedded store, beside other queues on PostgreSQL, and on several brokers. */
export async function run(): Promise<void> {
  console.log(`# postgres: ${machine()}`)
  const server = await startPostgres()
  try {
    console.log(server.about)
    console.log(`${CALLERS} callers, median of ${ROUNDS} alternating runs of ${SECONDS} s`)
    await compareStores(server)
    await compareLibraries(server)
    await measureBrokers(server)
  } finally {
    await server.stop()
  }
}
