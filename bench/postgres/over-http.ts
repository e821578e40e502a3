import { startBroker } from '../harness/broker.ts'
import { requestsPerSecond } from '../harness/load.ts'
import { fill, popAndAckRequests, pushRequest } from '../queue/traffic.ts'
import type { Contender } from './contender.ts'
import type { BenchDatabase } from './server.ts'
import { CALLERS, PARTITIONS } from './setting.ts'

/** hivegate as its users have it: a broker process, and requests over HTTP. */
export async function hivegateOverHttp(database: BenchDatabase): Promise<Contender> {
  const broker = await startBroker({ DATABASE_URL: database.url })
  const { url } = broker
  const load = { url, connections: CALLERS }
  return {
    name: 'hivegate over HTTP',
    async send(batch, seconds) {
      const requests = [pushRequest('sends', batch, PARTITIONS)]
      return batch * (await requestsPerSecond({ ...load, seconds, requests }))
    },
    async consume(batch, seconds) {
      let messages = 0
      const requests = popAndAckRequests('work', batch, (count) => {
        messages += count
      })
      await requestsPerSecond({ ...load, seconds, requests })
      return messages / seconds
    },
    async fill(count) {
      await fill(url, 'work', count, PARTITIONS)
      await database.analyze()
    },
    close: broker.stop,
  }
}
