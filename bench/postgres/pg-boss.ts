import { PgBoss } from 'pg-boss'
import { PAYLOAD } from '../queue/traffic.ts'
import { type Contender, inThousands, pump, rateOf } from './contender.ts'
import type { BenchDatabase } from './server.ts'

const SENDS = 'sends'
const WORK = 'work'

/**
 * pg-boss in this process: `send` and `insert`, then `fetch` and `complete`, with its own default of ten
 * connections. Each queue has a table of its own, as its documentation advises for large ones.
 */
export async function pgBoss(database: BenchDatabase): Promise<Contender> {
  const boss = new PgBoss({ connectionString: database.url })
  boss.on('error', (error: Error) => console.error(`pg-boss: ${error.message}`))
  await boss.start()
  for (const queue of [SENDS, WORK]) await boss.createQueue(queue, { partition: true })
  const insert = (queue: string, size: number) =>
    boss.insert(
      queue,
      Array.from({ length: size }, () => ({ data: PAYLOAD })),
    )
  return {
    name: 'pg-boss',
    async send(batch, seconds) {
      const one = () => boss.send(SENDS, PAYLOAD)
      const store = batch === 1 ? one : () => insert(SENDS, batch)
      return rateOf(
        await pump(seconds, async () => {
          await store()
          return batch
        }),
      )
    },
    async consume(batch, seconds) {
      return rateOf(
        await pump(seconds, async () => {
          const jobs = await boss.fetch(WORK, { batchSize: batch })
          if (jobs.length > 0) {
            await boss.complete(
              WORK,
              jobs.map(({ id }) => id),
            )
          }
          return jobs.length
        }),
      )
    },
    async fill(count) {
      await inThousands(count, (size) => insert(WORK, size))
      await database.analyze()
    },
    close: () => boss.stop({ graceful: false }),
  }
}
