import { EventSource } from 'eventsource'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'
import { openBrowser } from '../../support/browser.ts'
import { HUB_ON, publishTo } from '../../support/hub/broker.ts'
import { certificateFiles } from '../../support/hub/tls.ts'
import { bearer, pattern, publisherToken, subscriberToken } from '../../support/hub/tokens.ts'

/** Life of the tokens that are to expire while a client is connected, in seconds. */
const SHORT_S = 4

const expiring = () => subscriberToken(['*'], { exp: Math.floor(Date.now() / 1000) + SHORT_S })
const SETTINGS = { ...HUB_ON, MERCURE_ANONYMOUS: 'false', MERCURE_ALLOW_INSECURE_HTTP: 'false' }

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
}, 120_000)
afterAll(() => browser?.close())

/** A page of the broker's own origin over TLS, with the functions that the tests call in it. */
async function securePage(): Promise<{ broker: TestBroker; context: BrowserContext; page: Page }> {
  const broker = await startTestBroker({ ...SETTINGS, ...certificateFiles().env })
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  onTestFinished(async () => {
    await context.close()
    await broker.stop()
  })
  const page = await context.newPage()
  await page.goto(`https://localhost:${broker.port}/`)
  return { broker, context, page }
}

async function setCookie(context: BrowserContext, value: string): Promise<void> {
  await context.addCookies([
    {
      name: '__Secure-mercure_access_token',
      value,
      domain: 'localhost',
      path: '/.well-known/mercure',
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
    },
  ])
}

/** Publishes from inside the page, by header. */
async function publishInPage(
  page: Page,
  fields: readonly (readonly [string, string])[],
  token = publisherToken(),
) {
  return page.evaluate(
    async ([token, fields]) => {
      const body = new URLSearchParams(
        fields.map(([name, value]) => [name, value] as [string, string]),
      )
      const headers = { Authorization: `Bearer ${token}` }
      const answer = await fetch('/.well-known/mercure', { method: 'POST', headers, body })
      return { status: answer.status, text: await answer.text() }
    },
    [token, fields] as const,
  )
}

/** Opens an EventSource in the page; its data is collected in `window.seen`, its errors in `window.broken`. */
async function openEventSource(page: Page, query: string): Promise<void> {
  await page.evaluate(async (url) => {
    const store = globalThis as unknown as Record<string, unknown[]>
    store['seen'] = []
    store['gaveUp'] = []
    const source = new (globalThis as unknown as { EventSource: typeof EventSource }).EventSource(
      url,
    )
    source.onmessage = (event) => store['seen']?.push(event.data)
    source.onerror = () => {
      if (source.readyState === 2) store['gaveUp']?.push('yes')
    }
    await new Promise((resolve) => {
      source.onopen = resolve
    })
  }, `/.well-known/mercure?${query}`)
}

const seenInPage = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as Record<string, string[]>)['seen'])
const waitForSeen = (page: Page, count: number) =>
  page.waitForFunction((wanted) => {
    return ((globalThis as unknown as Record<string, string[]>)['seen']?.length ?? 0) >= wanted
  }, count)

describe('a browser over TLS', () => {
  it('receives private updates with EventSource by cookie, and resumes after exp with a fresh one', async () => {
    const { page, context } = await securePage()
    await setCookie(context, expiring())
    await openEventSource(page, 'match=a')
    // The stream ends at exp; the browser then comes back by itself, soon.
    await publishInPage(page, [
      ['topic', 'a'],
      ['data', '0'],
      ['retry', '50'],
      ['private', 'on'],
    ])
    await setCookie(context, subscriberToken())
    const endMs = Date.now() + (SHORT_S + 2) * 1000
    let count = 1
    while (Date.now() < endMs) {
      await publishInPage(page, [
        ['topic', 'a'],
        ['data', `${count}`],
        ['private', 'on'],
      ])
      count += 1
    }
    await waitForSeen(page, count)
    expect(await seenInPage(page)).toEqual(Array.from({ length: count }, (_, at) => `${at}`))
    // The cookie is out of reach of scripts.
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  it('A55: gives up when the token has expired and no fresh one came', async () => {
    const { page, context } = await securePage()
    await setCookie(context, expiring())
    await openEventSource(page, 'match=a')
    await publishInPage(page, [
      ['topic', 'a'],
      ['retry', '50'],
    ])
    await page.waitForFunction(() => {
      return (globalThis as unknown as Record<string, string[]>)['gaveUp']?.includes('yes')
    })
  })

  it('receives private updates with fetch by header', async () => {
    const { page } = await securePage()
    const streamed = page.evaluate(async (token) => {
      const headers = { Authorization: `Bearer ${token}` }
      const answer = await fetch('/.well-known/mercure?match=a', { headers })
      const store = globalThis as unknown as Record<string, unknown>
      store['streaming'] = true
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('id: urn:x:1')) text += (await reader?.read())?.value ?? ''
      return text
    }, subscriberToken())
    await page.waitForFunction(() => 'streaming' in globalThis)
    await publishInPage(page, [
      ['topic', 'a'],
      ['id', 'urn:x:1'],
      ['private', ''],
    ])
    expect(await streamed).toContain('id: urn:x:1')
  })

  it.each([
    ['a raw string', 'match=a%20plain%20string', 'a plain string'],
    ['a URI', 'match=https://example.com/books/1', 'https://example.com/books/1'],
    ['a urn', 'match=urn:isbn:1', 'urn:isbn:1'],
    [
      'a URL pattern',
      'match_urlpattern=https://example.com/books/:id',
      'https://example.com/books/1',
    ],
    ['several selectors', 'match=x&match_urlpattern=/y/:z&match=https://example.com/1', '/y/1'],
  ])('publishes and matches %s', async (_name, query, topic) => {
    const { page, context } = await securePage()
    await setCookie(context, subscriberToken())
    await openEventSource(page, query)
    const other = await publishInPage(page, [
      ['topic', 'https://example.com/other'],
      ['data', 'no'],
    ])
    expect(other.status).toBe(200)
    const answer = await publishInPage(page, [
      ['topic', topic],
      ['data', 'yes'],
      ['id', 'urn:custom:1'],
    ])
    expect(answer).toEqual({ status: 200, text: 'urn:custom:1' })
    await waitForSeen(page, 1)
    expect(await seenInPage(page)).toEqual(['yes'])
  })

  it('is refused what its token does not cover', async () => {
    const { page, context } = await securePage()
    await setCookie(context, subscriberToken([pattern('/mine/:x')]))
    await openEventSource(page, 'match=*')
    await publishInPage(page, [
      ['topic', '/theirs/1'],
      ['data', 'theirs'],
      ['private', 'on'],
    ])
    await publishInPage(page, [
      ['topic', '/mine/1'],
      ['data', 'mine'],
      ['private', 'on'],
    ])
    await waitForSeen(page, 1)
    expect(await seenInPage(page)).toEqual(['mine'])
    const refused = await publishInPage(page, [['topic', 'b']], publisherToken(['a']))
    expect(refused.status).toBe(403)
  })
})

describe('a Node client', () => {
  it('receives private updates by header and resumes after exp with a fresh token', async () => {
    const broker = await startTestBroker({ ...SETTINGS, MERCURE_ALLOW_INSECURE_HTTP: 'true' })
    onTestFinished(() => broker.stop())
    const tokens = [expiring()]
    const seen: string[] = []
    const source = new EventSource(`${broker.url}/.well-known/mercure?match=a`, {
      fetch: (url, init) => {
        const headers = { ...init.headers, ...bearer(tokens.shift() ?? subscriberToken()) }
        return fetch(url, { ...init, headers })
      },
    })
    onTestFinished(() => source.close())
    const once = (name: 'open' | 'error' | 'message') =>
      new Promise((resolve) => source.addEventListener(name, resolve, { once: true }))
    source.addEventListener('message', ({ data }) => seen.push(data))
    const publish = (data: string) =>
      publishTo(broker, { topic: 'a', data, retry: '50', private: 'on' })
    await once('open')
    const first = once('message')
    const cut = once('error')
    await publish('before')
    await first
    await cut
    // Nobody listens now: this one has to come from history.
    const reopened = once('open')
    await publish('between')
    await reopened
    await publish('after')
    while (seen.length < 3) await once('message')
    expect(seen).toEqual(['before', 'between', 'after'])
  })
})
