import { describe, expect, it } from 'vitest'
import { payloadCipher } from '../../src/queue/cipher.ts'
import { idAtMicros } from '../../src/queue/message-id.ts'
import type { QueueStore, WaitingPush } from '../../src/queue/store.ts'
import { postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { item } from './engine/open.ts'

const AT_US = 1_800_000_000_000_000
const HOUR_US = 3_600_000_000
const KEY = 'ab'.repeat(32)

let made = 0
function waiting(transactionId: string, queue: string): WaitingPush {
  made += 1
  const id = idAtMicros(AT_US + made)
  return { item: item('p', 1, { queue, transactionId }), id, producerSub: 'me' }
}

describe('pushes that waited outside of the store', () => {
  const stores = new PostgresStores()
  const open = async (encryptionKey = ''): Promise<QueueStore> =>
    postgresQueueStore(await stores.openHost(), { encryptionKey })
  const rows = (queue: string) =>
    stores.database.query(
      `SELECT m.* FROM hivegate.message m JOIN hivegate.partition p ON p.id = m.partition_id
         JOIN hivegate.queue q ON q.id = p.queue_id WHERE q.name = $1 ORDER BY m.position`,
      [queue],
    )

  it('are made when they are stored, so that none is too old for its queue, and keep their ids', async () => {
    const store = await open()
    const messages = [waiting('a', 'late'), waiting('b', 'late')]
    const nowUs = AT_US + 9 * HOUR_US
    const answer = await store.replay?.({ messages, atUs: AT_US, nowUs })
    expect(answer).toMatchObject({ held: false, wakes: [{ queue: 'late' }] })
    const stored = await rows('late')
    expect(stored.map((row) => [row['id'], row['transaction_id'], row['producer_sub']])).toEqual(
      messages.map(({ id, item: { transactionId } }) => [id, transactionId, 'me']),
    )
    for (const row of stored) expect(Number(row['created_at'])).toBeGreaterThanOrEqual(nowUs)
  })

  it('are known by their transaction id when that was known as they came, however late they are stored', async () => {
    const store = await open()
    const push = (transactionId: string, nowUs: number) => {
      const items = [item('p', 1, { queue: 'once', transactionId })]
      return store.commit([{ kind: 'push', args: { items, producerSub: null, nowUs } }])
    }
    await push('before', AT_US - 2 * HOUR_US)
    await push('within', AT_US - HOUR_US / 2)
    const messages = ['within', 'before', 'new', 'new'].map((id) => waiting(id, 'once'))
    const nowUs = AT_US + 5 * HOUR_US
    await store.replay?.({ messages, atUs: AT_US, nowUs })
    // As after a crash that came before the note that they are stored.
    await store.replay?.({ messages, atUs: AT_US, nowUs: nowUs + 5 * HOUR_US })
    const ids = (await rows('once')).map((row) => row['transaction_id'])
    expect(ids).toEqual(['before', 'within', 'before', 'new'])
  })

  it('are sealed where the queue says so', async () => {
    const store = await open(KEY)
    const options = { encryptionEnabled: true }
    const names = { queue: 'sealed', namespace: null, task: null }
    await store.commit([
      { kind: 'configure', args: { ...names, options, mode: 'merge', nowUs: AT_US } },
    ])
    const messages = [waiting('a', 'sealed'), waiting('a', 'clear')]
    await store.replay?.({ messages, atUs: AT_US, nowUs: AT_US })
    const [sealed] = await rows('sealed')
    expect(sealed?.['encrypted']).toBe(true)
    expect(payloadCipher(KEY).open(String(sealed?.['payload']))).toBe('1')
    expect((await rows('clear'))[0]).toMatchObject({ encrypted: false, payload: '1' })
  })
})
