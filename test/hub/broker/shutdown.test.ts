import { describe, expect, it } from 'vitest'
import { childHub, publishTo, subscribeTo } from '../../support/hub/broker.ts'
import { bearer, subscriberToken } from '../../support/hub/tokens.ts'

describe('row 68: SIGTERM', () => {
  it('A43: ends open streams at once, exits 0, and clients resume without loss', async () => {
    const first = await childHub({ DRAIN_TIMEOUT: '60s' })
    const streams = await Promise.all(
      Array.from({ length: 3 }, () => subscribeTo(first, 'match=a')),
    )
    await publishTo(first, { topic: 'a', id: '1' })
    for (const stream of streams) expect((await stream.next()).id).toBe('1')
    await publishTo(first, { topic: 'a', id: '2' })
    const termedMs = performance.now()
    first.signal('SIGTERM')
    await Promise.all(streams.map((stream) => stream.ended))
    expect((await first.exited).code).toBe(0)
    // Long before the drain time: nobody waited for the streams.
    expect(performance.now() - termedMs).toBeLessThan(30_000)
    const second = await childHub({}, first.dataDir)
    const resumed = await subscribeTo(second, 'match=a', { 'Last-Event-ID': '1' })
    expect(resumed.response.headers.get('mercure-last-event-id')).toBe('1')
    await publishTo(second, { topic: 'a', id: '3' })
    expect((await resumed.take(2)).map(({ id }) => id)).toEqual(['2', '3'])
  })

  it('announces the end of the subscriptions, for those who come back to watch', async () => {
    const settings = { MERCURE_SUBSCRIPTIONS: 'true' }
    const first = await childHub(settings)
    await subscribeTo(first, 'match=a')
    first.signal('SIGTERM')
    expect((await first.exited).code).toBe(0)
    const second = await childHub(settings, first.dataDir)
    const query =
      'match_urlpattern=/.well-known/mercure/subscriptions/exact/a/*&last_event_id=earliest'
    const watcher = await subscribeTo(second, query, bearer(subscriberToken()))
    const active = (await watcher.take(2)).map(({ data }) => JSON.parse(data).active)
    expect(active).toEqual([true, false])
  })
})

describe('kill -9 under publish load', () => {
  it('keeps every update whose publication was answered 200, once and in order; subscribers resume', async () => {
    const accepted: string[] = []
    let dataDir: string | undefined
    let cursor = 'earliest'
    const seen: string[] = []
    for (let round = 0; round < 4; round += 1) {
      const broker = await childHub({}, dataDir)
      dataDir = broker.dataDir
      const stream = await subscribeTo(broker, `match=a&last_event_id=${cursor}`)
      const load = Array.from({ length: 8 }, async (_, worker) => {
        for (let at = 0; ; at += 1) {
          const id = `${round}-${worker}-${at}`
          const answer = await publishTo(broker, { topic: 'a', id }).catch(() => undefined)
          if (answer?.status !== 200) return
          accepted.push(await answer.text().catch(() => id))
        }
      })
      const target = seen.length + 40
      while (seen.length < target) seen.push((await stream.next()).id ?? '')
      broker.signal('SIGKILL')
      await Promise.all(load)
      await stream.ended
      seen.push(...stream.waiting.map(({ id = '' }) => id))
      cursor = seen.at(-1) ?? cursor
      await broker.exited
    }
    const last = await childHub({}, dataDir)
    const whole = await subscribeTo(last, 'match=a&last_event_id=earliest')
    const rest = await subscribeTo(last, `match=a&last_event_id=${cursor}`)
    await publishTo(last, { topic: 'a', id: 'end' })
    const history: string[] = []
    while (history.at(-1) !== 'end') history.push((await whole.next()).id ?? '')
    while (seen.at(-1) !== 'end') seen.push((await rest.next()).id ?? '')
    expect(new Set(history).size).toBe(history.length)
    for (const id of accepted) expect(history).toContain(id)
    const perWorker = Map.groupBy(history.slice(0, -1), (id) => id.replace(/-[0-9]+$/, ''))
    for (const ids of perWorker.values()) {
      const numbers = ids.map((id) => Number(id.split('-')[2]))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
    expect(seen).toEqual(history)
  })
})
