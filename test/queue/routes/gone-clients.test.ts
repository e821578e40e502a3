import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const target = (queue: string, query: string) => `/api/v1/pop/queue/${queue}?${query}`
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const push = (...items: object[]) => broker.call('POST /api/v1/push', { json: { items } })
const pop = async (queue: string) => {
  const reply = await broker.call(`GET ${target(queue, 'wait=true&timeout=20000')}`)
  return reply.status === 200 ? reply.body.messages.map((one: { data: unknown }) => one.data) : []
}

async function connect(bytes: string, options: { reads: boolean } = { reads: true }) {
  const socket = net.connect(broker.port, '127.0.0.1')
  socket.on('error', () => {})
  if (options.reads) socket.resume()
  else socket.pause()
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

/** Resolves when this many pops of the broker wait. */
async function waiting(count: number) {
  await expect.poll(() => broker.broker.engine.counters().parked, { timeout: 20_000 }).toBe(count)
}

/** How many messages the broker has given away. */
const given = () => broker.broker.engine.counters().popMessages

describe('a client that has gone', () => {
  it.each(['', '&autoAck=true'])(
    'keeps nothing of its pipelined waiting pops (%s)',
    async (more) => {
      const queue = `pipelined${more.length}`
      const socket = await connect(head(target(queue, `wait=true&timeout=60000${more}`)).repeat(5))
      await waiting(5)
      socket.destroy()
      await waiting(0)
      await push(...[1, 2, 3].map((payload) => ({ queue, partition: `p${payload}`, payload })))
      const got = [await pop(queue), await pop(queue), await pop(queue)]
      expect(got.flat().sort()).toEqual([1, 2, 3])
    },
  )

  it.each(['', '&autoAck=true'])(
    'gives back what a pop behind a waiting one was given (%s)',
    async (more) => {
      const queue = `behind${more.length}`
      await push({ queue, payload: 'once' })
      const before = given()
      const first = head(target('nothing-here', 'wait=true&timeout=60000'))
      const socket = await connect(first + head(target(queue, `batch=1${more}`)))
      await expect.poll(given, { timeout: 20_000 }).toBe(before + 1)
      socket.destroy()
      expect(await pop(queue)).toEqual(['once'])
    },
  )

  it('gives back an answer of which it read only a part', async () => {
    await push({ queue: 'large', payload: 'x'.repeat(20_000_000) })
    const before = given()
    const socket = await connect(head(target('large', 'batch=1')), { reads: false })
    await expect.poll(given, { timeout: 20_000 }).toBe(before + 1)
    socket.destroy()
    const [payload] = await pop('large')
    expect(String(payload).length).toBe(20_000_000)
  })

  it('takes nothing on a connection that was refused and ended', async () => {
    const socket = await connect(head(target('refused', 'wait=true&timeout=60000')))
    await waiting(1)
    // A body that no length announces is read as the next request, which is none.
    socket.write('{"batch":1}\r\n\r\n')
    await waiting(0)
    await push({ queue: 'refused', payload: 1 })
    expect(await pop('refused')).toEqual([1])
    socket.destroy()
  })

  it('is logged as aborted, behind another request too', async () => {
    const socket = await connect(head(target('logged', 'wait=true&timeout=60000')).repeat(2))
    await waiting(2)
    socket.destroy()
    await waiting(0)
    const lines = () =>
      broker.lines.filter(
        (line) => line.includes('/pop/queue/logged') && line.includes('"aborted":true'),
      )
    await expect.poll(() => lines().length).toBe(2)
  })
})

it('a client may pipeline more requests than a connection has listeners', async () => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.name)
  process.on('warning', note)
  const socket = await connect(head('/health').repeat(100))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await expect.poll(() => text.split('HTTP/1.1 200 OK').length - 1).toBe(100)
  socket.destroy()
  process.off('warning', note)
  expect(warnings).toEqual([])
})
