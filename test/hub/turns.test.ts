import { describe, expect, it, vi } from 'vitest'
import {
  createTopicMatchers,
  finish,
  grantsOf,
  MatchCache,
  NO_GRANTS,
  stepsOf,
  type Walk,
} from '../../src/access/index.ts'
import { DeliveryEngine } from '../../src/hub/delivery/engine.ts'
import type { EventStream } from '../../src/hub/delivery/event-stream.ts'
import { SubscriberIndex } from '../../src/hub/delivery/subscriber-index.ts'
import { STEPS_PER_TURN, Turns } from '../../src/hub/delivery/turns.ts'
import { localStore } from '../../src/hub/stores/local.ts'
import { HUB_ID } from '../support/hub/config.ts'
import { publish, startHub } from '../support/hub/hub.ts'
import { startKeptHub } from '../support/hub/kept-hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { pattern, publisherToken, subscriberToken } from '../support/hub/tokens.ts'

const PATTERNS = Array.from({ length: 100 }, (_, i) => `https://shop.example/(.*a${i + 100}.*)`)
const TOPICS = Array.from({ length: 40 }, (_, i) => `https://shop.example/${'a'.repeat(1000)}${i}`)
const TARGET = 'https://shop.example/a100'

const compiled = () => {
  const matchers = createTopicMatchers(HUB_ID, new MatchCache(1000))
  return PATTERNS.map((one) => matchers.compile({ type: 'urlpattern', pattern: one }))
}

/** As many as fit into a detail beside one that matches. */
const GRANTED = PATTERNS.slice(1).map(pattern)

/** The steps that asking every pattern about every topic takes. */
const ALL_STEPS = compiled()
  .flatMap((matcher) => TOPICS.map((topic) => stepsOf(matcher, topic)))
  .reduce((sum, steps) => sum + steps, 0)

/** Counts the turns of the event loop until `work` is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const tick = (): void => {
    turns += 1
    if (!over) setImmediate(tick)
  }
  setImmediate(tick)
  await work
  over = true
  return turns
}

/** Takes its steps one piece at a time and writes down who had them. */
function* pieces(name: string, each: number, count: number, seen: string[]): Walk<string> {
  for (let i = 0; i < count; i += 1) {
    seen.push(name)
    yield each
  }
  return name
}

describe('walks over topics and patterns', () => {
  it('that are short are done at once', () => {
    const done: string[] = []
    new Turns().run(pieces('a', 1, 100, []), (name) => done.push(name))
    expect(done).toEqual(['a'])
  })

  it('that are long go on in later turns, and take turns with each other', async () => {
    const turns = new Turns()
    const seen: string[] = []
    const half = STEPS_PER_TURN / 2
    const walks = ['a', 'b', 'c'].map((name) => turns.finish(pieces(name, half, 4, seen)))
    expect(seen).toEqual(['a', 'a'])
    // Twelve pieces, two a turn, the first two of them before the first turn.
    expect(await turnsDuring(Promise.all(walks))).toBeGreaterThanOrEqual(5)
    expect(seen.join('')).toBe('aaaabbccbbcc')
  })

  it('H11: a turn never takes more steps than it has and one piece', async () => {
    const turns = new Turns()
    let steps = 0
    function* counted(): Walk<void> {
      for (const matcher of compiled()) {
        for (const topic of TOPICS) {
          const piece = stepsOf(matcher, topic)
          steps += piece
          yield piece
        }
      }
    }
    const most =
      STEPS_PER_TURN + Math.max(...compiled().map((one) => stepsOf(one, TOPICS[39] ?? '')))
    const walk = turns.finish(counted())
    let before = 0
    const perTurn: number[] = []
    let over = false
    const tick = (): void => {
      perTurn.push(steps - before)
      before = steps
      if (!over) setImmediate(tick)
    }
    tick()
    await walk
    over = true
    expect(steps).toBe(ALL_STEPS)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(most)
  })

  it('read a topic once, however many patterns are asked about it', () => {
    const parse = vi.spyOn(URL, 'parse')
    try {
      const detail = { actions: new Set(['publish'] as const), topics: compiled(), index: 0 }
      parse.mockClear()
      const grants = grantsOf([detail])
      expect(grants.allowsAny('publish', TOPICS)).toBe(false)
      expect(parse).toHaveBeenCalledTimes(TOPICS.length)
    } finally {
      parse.mockRestore()
    }
  })

  it('count every step of a question about grants', () => {
    const grants = grantsOf([
      { actions: new Set(['publish'] as const), topics: compiled(), index: 0 },
    ])
    let steps = 0
    const walk = grants.walkAny('publish', TOPICS)
    for (let step = walk.next(); !step.done; step = walk.next()) steps += step.value
    expect(steps).toBe(ALL_STEPS)
    expect(finish(grants.walkEvery('publish', [TARGET]))).toBe(true)
  })
})

describe('H11: long topics against hostile patterns', () => {
  const query = PATTERNS.map((one) => `match_urlpattern=${encodeURIComponent(one)}`).join('&')

  it('of subscribers leave others their turns, and updates stay in order', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const hostile = await subscribe(hub, query)
    const witness = await subscribe(hub, 'match=*')
    const first = publish(hub, { topic: TOPICS, id: 'long' })
    const turns = await turnsDuring(witness.next())
    expect(turns).toBeGreaterThanOrEqual(Math.floor(ALL_STEPS / STEPS_PER_TURN))
    expect((await first).status).toBe(200)
    const ids = ['1', '2', '3']
    await Promise.all(ids.map((id) => publish(hub, { topic: TARGET, id })))
    expect((await hostile.take(3)).map(({ id }) => id).toSorted()).toEqual(ids)
    const order = (await witness.take(3)).map(({ id }) => id)
    expect(order.toSorted()).toEqual(ids)
  })

  it('of a publisher leave others their turns, and every topic is still asked about', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const token = publisherToken([...GRANTED, pattern('https://shop.example/a*')])
    const publishing = publish(hub, { topic: [...TOPICS, 'elsewhere'] }, token)
    const turns = await turnsDuring(publishing)
    expect(turns).toBeGreaterThanOrEqual(Math.floor(ALL_STEPS / STEPS_PER_TURN) - 1)
    expect((await publishing).status).toBe(403)
  })

  it('of the bearer of a private update leave others their turns', async () => {
    const hub = await startHub()
    const token = subscriberToken([...GRANTED, TOPICS.at(-1) ?? ''])
    const stream = await subscribe(hub, 'match=*', { token })
    const publishing = publish(hub, { topic: TOPICS, private: 'on', id: 'own' })
    const turns = await turnsDuring(stream.next().then(({ id }) => expect(id).toBe('own')))
    expect(turns).toBeGreaterThanOrEqual(Math.floor(ALL_STEPS / STEPS_PER_TURN) - 1)
    expect((await publishing).status).toBe(200)
  })

  it('of a replay leave others their turns', async () => {
    const hub = await startKeptHub({ settings: { anonymous: true } })
    await publish(hub, { topic: TOPICS, id: 'long' })
    await publish(hub, { topic: TARGET, id: 'after' })
    const stream = await subscribe(hub, `${query}&last_event_id=earliest`)
    const turns = await turnsDuring(stream.next().then(({ id }) => expect(id).toBe('after')))
    expect(turns).toBeGreaterThanOrEqual(Math.floor(ALL_STEPS / STEPS_PER_TURN) - 1)
  })
})

describe('an update that is still on its way', () => {
  it('is not for who joins after it was heard, and the next one waits for it', async () => {
    const { compile } = createTopicMatchers(HUB_ID, new MatchCache(1000))
    const index = new SubscriberIndex({ compile, subscriberListCacheSize: 0 })
    const engine = new DeliveryEngine({
      ...{ store: localStore(), index, clock: Date, random: () => 1, historySize: 0 },
      ...{ cleanupFrequency: 0, onReplayFailure: () => {} },
    })
    await engine.start()
    const join = (patterns: readonly string[]): string[] => {
      const seen: string[] = []
      const matchers = patterns.map((one) => index.compile({ type: 'urlpattern', pattern: one }))
      // Of a stream the engine needs no more.
      const stream = { closed: false, end() {}, send: (frame: Buffer) => seen.push(`${frame}`) }
      engine.join(
        {
          ...{ id: `${index.all.size}`, matchers, liveAfter: 0, held: undefined },
          stream: stream as unknown as EventStream,
          identity: { anonymous: true, grants: NO_GRANTS },
        },
        undefined,
      )
      return seen
    }
    const before = join(['*'])
    join(PATTERNS)
    await engine.publish({ topics: TOPICS, data: 'one', private: false })
    expect(before).toEqual([])
    const after = join(['*'])
    await engine.publish({ topics: [TARGET], data: 'two', private: false })
    await engine.close()
    expect(before.map((frame) => /data: (.*)/.exec(frame)?.[1])).toEqual(['one', 'two'])
    expect(after.map((frame) => /data: (.*)/.exec(frame)?.[1])).toEqual(['two'])
  })
})
