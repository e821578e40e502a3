import { describe, expect, it } from 'vitest'
import type { HistoryPage, HubStore, UpdateListener } from '../../src/hub/index.ts'
import { publish, type RunningHub, startHub, temporaryFolder } from '../support/hub/hub.ts'
import { startKeptHub } from '../support/hub/kept-hub.ts'
import { openRaw } from '../support/hub/raw-stream.ts'
import { type OpenStream, subscribe } from '../support/hub/stream.ts'
import { pattern, subscriberToken } from '../support/hub/tokens.ts'

const keeping = () => startKeptHub({ settings: { anonymous: true } })

async function publishAll(hub: RunningHub, ids: readonly string[], fields = {}): Promise<void> {
  for (const id of ids) await publish(hub, { topic: 'a', id, ...fields })
}

const fieldOf = (stream: OpenStream) => stream.response.headers.get('mercure-last-event-id')

/** The ids that come until an update that is published now. */
async function idsUntilNow(hub: RunningHub, stream: OpenStream): Promise<readonly string[]> {
  await publish(hub, { topic: 'a', id: 'now' })
  const ids: string[] = []
  for (;;) {
    const { id = '' } = await stream.next()
    if (id === 'now') return ids
    ids.push(id)
  }
}

describe('row 46: resuming after a cursor', () => {
  it.each([
    ['the header', 'match=a', { 'Last-Event-ID': 'a' }, 'a', ['b', 'c']],
    ['the parameter', 'match=a&last_event_id=a', {}, 'a', ['b', 'c']],
    ['both: the header wins', 'match=a&last_event_id=a', { 'Last-Event-ID': 'b' }, 'b', ['c']],
    [
      'an empty header and the parameter',
      'match=a&last_event_id=b',
      { 'Last-Event-ID': '' },
      'b',
      ['c'],
    ],
    ['the newest id', 'match=a&last_event_id=c', {}, 'c', []],
    ['earliest', 'match=a&last_event_id=earliest', {}, 'earliest', ['a', 'b', 'c']],
    ['an unknown id', 'match=a&last_event_id=nowhere', {}, 'earliest', []],
    ['an empty parameter', 'match=a&last_event_id=', {}, 'earliest', []],
    ['an empty header', 'match=a', { 'Last-Event-ID': '' }, 'earliest', []],
    ['a parameter that is no UTF-8', 'match=a&last_event_id=%FF', {}, 'earliest', []],
    ['A31: an id with line ends', 'match=a&last_event_id=a%0D%0AX-Y:%20z', {}, 'earliest', []],
    ['no cursor', 'match=a', {}, null, []],
    ['Last-Event-ID as a parameter', 'match=a&Last-Event-ID=a', {}, null, []],
    ['lastEventId as a parameter', 'match=a&lastEventId=a', {}, null, []],
    ['lastEventID as a parameter', 'match=a&lastEventID=a', {}, null, []],
    [
      'a repeated parameter: the first counts',
      'match=a&last_event_id=b&last_event_id=a',
      {},
      'b',
      ['c'],
    ],
  ])('%s', async (_name, query, headers, field, ids) => {
    const hub = await keeping()
    await publishAll(hub, ['a', 'b', 'c'])
    const stream = await subscribe(hub, query, { headers })
    expect(fieldOf(stream)).toBe(field)
    expect(stream.response.headers.get('last-event-id')).toBeNull()
    expect(await idsUntilNow(hub, stream)).toEqual(ids)
  })

  it('an empty history answers every cursor with earliest', async () => {
    const hub = await keeping()
    for (const cursor of ['earliest', 'x', '']) {
      const stream = await subscribe(hub, `match=a&last_event_id=${cursor}`)
      expect(fieldOf(stream)).toBe('earliest')
    }
  })

  it('without a history nothing is replayed', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    await publishAll(hub, ['a', 'b'])
    const stream = await subscribe(hub, 'match=a&last_event_id=a')
    expect(fieldOf(stream)).toBe('earliest')
    expect(await idsUntilNow(hub, stream)).toEqual([])
  })

  it('of several updates with one id the first counts, later ones are replayed', async () => {
    const hub = await keeping()
    await publishAll(hub, ['x', 'same', 'y', 'same', 'z'])
    const stream = await subscribe(hub, 'match=a&last_event_id=same')
    expect(await idsUntilNow(hub, stream)).toEqual(['y', 'same', 'z'])
  })

  it('H29: ids beyond Latin-1 come and go as UTF-8', async () => {
    const hub = await keeping()
    await publishAll(hub, ['é–😀', 'next'])
    const sent = Buffer.from('é–😀').toString('latin1')
    const lines = ['GET /.well-known/mercure?match=a HTTP/1.1', 'Host: x']
    const stream = openRaw(hub.port, lines)
    stream.socket.destroy()
    const again = await subscribe(hub, 'match=a', { headers: { 'Last-Event-ID': sent } })
    expect(Buffer.from(fieldOf(again) ?? '', 'latin1').toString()).toBe('é–😀')
    expect((await again.next()).id).toBe('next')
  })

  it('the selection of the request holds for the replay too', async () => {
    const hub = await keeping()
    await publishAll(hub, ['a', 'b'])
    await publish(hub, { topic: 'other', id: 'other' })
    await publish(hub, { topic: ['z', '/x/1'], id: 'alternate' })
    const stream = await subscribe(hub, 'match=a&match_urlpattern=/x/:id&last_event_id=earliest')
    expect(await idsUntilNow(hub, stream)).toEqual(['a', 'b', 'alternate'])
  })

  it('HEAD says what GET would', async () => {
    const hub = await keeping()
    await publishAll(hub, ['a'])
    const response = await fetch(`${hub.url}?match=a&last_event_id=a`, { method: 'HEAD' })
    expect(response.headers.get('mercure-last-event-id')).toBe('a')
  })
})

describe('row 47: replay and rights', () => {
  it('H25: private updates are replayed with a token that covers them now, and to nobody else', async () => {
    const hub = await keeping()
    await publish(hub, { topic: '/people/42', id: 'secret', private: '' })
    await publish(hub, { topic: '/people/42', id: 'open' })
    const query = 'match=/people/42&match=a&last_event_id=earliest'
    const holders = [subscriberToken(['/people/42']), subscriberToken([pattern('/people/:id')])]
    for (const token of holders) {
      const stream = await subscribe(hub, query, { token })
      expect((await stream.take(2)).map(({ id }) => id)).toEqual(['secret', 'open'])
    }
    const strangers = [undefined, subscriberToken([]), subscriberToken(['/people/99'])]
    for (const token of strangers) {
      const stream = await subscribe(hub, query, token === undefined ? {} : { token })
      expect((await stream.next()).id).toBe('open')
    }
  })

  it('H25: an unknown cursor never reveals the id of a private update', async () => {
    const hub = await keeping()
    await publish(hub, { topic: '/people/42', id: 'secret', private: '' })
    for (const cursor of ['guess', 'earliest', '']) {
      const stream = await subscribe(hub, `match=*&last_event_id=${cursor}`)
      expect(JSON.stringify([...stream.response.headers])).not.toContain('secret')
      expect(fieldOf(stream)).toBe('earliest')
    }
  })
})

describe('row 48: replay and live', () => {
  it('what is published during a long replay comes after it, once, in order', async () => {
    const hub = await keeping()
    const before = Array.from({ length: 1500 }, (_, at) => `${at}`)
    for (let at = 0; at < before.length; at += 100) {
      const data = 'x'.repeat(1000)
      const ids = before.slice(at, at + 100)
      await Promise.all(ids.map((id) => publish(hub, { topic: 'a', id, data })))
    }
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => subscribe(hub, 'match=a&last_event_id=earliest')),
    )
    const during = Array.from({ length: 100 }, (_, at) => `live-${at}`)
    await Promise.all(during.map((id) => publish(hub, { topic: 'a', id })))
    const whole = await subscribe(hub, 'match=a&last_event_id=earliest')
    const order = (await whole.take(1600)).map(({ id }) => id)
    expect(new Set(order)).toEqual(new Set([...before, ...during]))
    for (const stream of streams) {
      expect((await stream.take(1600)).map(({ id }) => id)).toEqual(order)
      expect(stream.waiting).toEqual([])
    }
  })

  it('every reconnection goes on exactly where the last one ended, under load', async () => {
    const hub = await keeping()
    const total = 400
    let stop = false
    const publishing = (async () => {
      for (let at = 0; at < total && !stop; at += 1) await publish(hub, { topic: 'a', id: `${at}` })
    })()
    const seen: string[] = []
    let cursor = 'earliest'
    while (seen.length < total) {
      const stream = await subscribe(hub, `match=a&last_event_id=${cursor}`)
      const count = Math.min(37, total - seen.length)
      const ids = (await stream.take(count)).map(({ id = '' }) => id)
      seen.push(...ids)
      cursor = ids.at(-1) ?? cursor
      stream.close()
    }
    stop = true
    await publishing
    expect(seen).toEqual(Array.from({ length: total }, (_, at) => `${at}`))
  })

  it('a history that was trimmed under a slow reader ends the stream instead of leaving a gap', async () => {
    const pages: HistoryPage[] = [
      {
        updates: [{ seq: 2, id: 'b', topics: ['a'], data: '', private: false }],
        complete: true,
        atHead: false,
      },
      { updates: [], complete: false, atHead: true },
    ]
    const store: HubStore = {
      open: () => Promise.resolve({ seq: 9, id: 'z' }),
      append: () => Promise.resolve(),
      locate: () => Promise.resolve(1),
      readAfter: () =>
        Promise.resolve(pages.shift() ?? { updates: [], complete: true, atHead: true }),
      close: () => Promise.resolve(),
    }
    const hub = await startHub({ settings: { anonymous: true }, store })
    const stream = await subscribe(hub, 'match=a&last_event_id=a')
    expect((await stream.next()).id).toBe('b')
    await stream.ended
    expect(hub.hub.health().subscribers).toBe(0)
  })

  it('a store that fails half way ends the stream, and before the head it is 503', async () => {
    const store: HubStore = {
      open: () => Promise.resolve({ seq: 9, id: 'z' }),
      append: () => Promise.resolve(),
      locate: (id) => (id === 'bad' ? Promise.reject(new Error('broken')) : Promise.resolve(1)),
      readAfter: () => Promise.reject(new Error('broken')),
      close: () => Promise.resolve(),
    }
    const hub = await startHub({ settings: { anonymous: true }, store })
    const stream = await subscribe(hub, 'match=a&last_event_id=a')
    await stream.ended
    const refused = await subscribe(hub, 'match=a&last_event_id=bad')
    expect(refused.response.status).toBe(503)
  })
})

describe('a history that is ahead of live delivery', () => {
  it('row 48: an update that was replayed is not sent again when live delivery hears of it', async () => {
    const update = (seq: number) => ({ seq, id: `${seq}`, topics: ['a'], data: '', private: false })
    let tell: UpdateListener = () => {}
    const store: HubStore = {
      open(listener) {
        tell = listener
        return Promise.resolve({ seq: 1, id: '1' })
      },
      append: () => Promise.resolve(),
      locate: () => Promise.resolve(1),
      readAfter: () =>
        Promise.resolve({ updates: [update(2), update(3)], complete: true, atHead: true }),
      close: () => Promise.resolve(),
    }
    const hub = await startHub({ settings: { anonymous: true }, store })
    const stream = await subscribe(hub, 'match=a&last_event_id=1')
    expect((await stream.take(2)).map(({ id }) => id)).toEqual(['2', '3'])
    for (const seq of [2, 3, 4]) tell(update(seq))
    expect((await stream.next()).id).toBe('4')
  })
})

describe('row 49: history that outlives the hub', () => {
  it('is replayed after a restart, and the last event id is kept', async () => {
    const dataDir = temporaryFolder()
    const settings = { anonymous: true, subscriptions: true }
    const first = await startKeptHub({ settings }, dataDir)
    await publishAll(first, ['a', 'b', 'c'])
    await first.close()
    const second = await startKeptHub({ settings }, dataDir)
    expect(second.hub.lastEventId()).toBe('c')
    const stream = await subscribe(second, 'match=a&last_event_id=a')
    expect((await stream.take(2)).map(({ id }) => id)).toEqual(['b', 'c'])
  })
})

describe('a client that has gone before its place in history was found', () => {
  it('is not registered', async () => {
    const found = Promise.withResolvers<number>()
    const asked = Promise.withResolvers<void>()
    const store: HubStore = {
      open: () => Promise.resolve({ seq: 9, id: 'z' }),
      append: () => Promise.resolve(),
      locate() {
        asked.resolve()
        return found.promise
      },
      readAfter: () => Promise.resolve({ updates: [], complete: true, atHead: true }),
      close: () => Promise.resolve(),
    }
    const hub = await startHub({ settings: { anonymous: true }, store })
    const closed = Promise.withResolvers<void>()
    hub.server.on('connection', (socket) => socket.on('close', () => closed.resolve()))
    const lines = ['GET /.well-known/mercure?match=a&last_event_id=x HTTP/1.1', 'Host: x']
    const stream = openRaw(hub.port, lines)
    await asked.promise
    stream.socket.destroy()
    await closed.promise
    found.resolve(1)
    await found.promise
    await publish(hub, { topic: 'a' })
    expect(hub.hub.health().subscribers).toBe(0)
  })
})

describe('the size of the history', () => {
  it('is kept by trimming on a share of the publishes', async () => {
    const draws = [0.3, 0.3, 0.3, 0.3, 0.29]
    const hub = await startKeptHub({
      settings: { anonymous: true, historySize: 2, cleanupFrequency: 0.3 },
      random: () => draws.shift() ?? 1,
    })
    await publishAll(hub, ['1', '2', '3', '4'])
    const whole = await subscribe(hub, 'match=a&last_event_id=earliest')
    expect((await whole.take(4)).map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
    draws.unshift(0.29)
    await publishAll(hub, ['5'])
    const rest = await subscribe(hub, 'match=a&last_event_id=earliest')
    expect((await rest.take(2)).map(({ id }) => id)).toEqual(['4', '5'])
    expect(fieldOf(await subscribe(hub, 'match=a&last_event_id=1'))).toBe('earliest')
  })
})
