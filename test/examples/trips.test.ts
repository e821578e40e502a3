import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  fetchToken,
  followTrip,
  login,
  NoSuchTripError,
  type TripsClientOptions,
} from '../../examples/trips/client.ts'
import { send, textOf } from '../../examples/trips/https.ts'
import { type RunningTrips, startTrips } from '../../examples/trips/start.ts'
import { openBrowser } from '../support/browser.ts'
import { dropStore, storeSettings } from '../support/test-store.ts'

/** Stands for the data folder, which the example makes for itself. */
const DATA = 'trips example'
const STEPS = 6
/** Short, so that tokens expire while the trip is followed. */
const TTL_S = 5
/** Gates that a test opens: a computation waits at each step until it may go on. */
const gates = Array.from({ length: STEPS + 1 }, () => Promise.withResolvers<void>())
const release = (...steps: readonly number[]) => {
  for (const step of steps) gates[step]?.resolve()
}
let trips: RunningTrips
let browser: Browser
let page: Page
let ada: TripsClientOptions
let bob: TripsClientOptions
let id: string

beforeAll(async () => {
  for (const [name, value] of Object.entries(await storeSettings(DATA))) vi.stubEnv(name, value)
  trips = await startTrips({
    ttlSeconds: TTL_S,
    steps: STEPS,
    work: (step) => gates[step]?.promise ?? Promise.resolve(),
  })
  const { appUrl, ca } = trips
  ada = { appUrl, ca, session: await login(appUrl, ca, 'ada') }
  bob = { appUrl, ca, session: await login(appUrl, ca, 'bob') }
  browser = await openBrowser()
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  page = await context.newPage()
  await page.goto(appUrl)
  await page.click('button')
  await page.waitForSelector('body[data-trip]')
  id = (await page.getAttribute('body', 'data-trip')) ?? ''
}, 120_000)
afterAll(async () => {
  release(...gates.keys())
  await browser?.close()
  await trips?.stop()
  vi.unstubAllEnvs()
  await dropStore(DATA)
})

const stepsOnPage = () => page.locator('#progress li').allTextContents()
const ask = async (who: TripsClientOptions, path: string) => {
  const headers = { authorization: `Bearer ${who.session}` }
  const answer = await send({ url: `${who.appUrl}${path}`, ca: who.ca, headers })
  const { date: _date, ...rest } = answer.headers
  return { status: answer.statusCode, headers: rest, body: await textOf(answer) }
}

describe('the trips example over TLS', () => {
  it('the owner sees live progress, by cookie in a browser and by header in Node, and loses nothing when the token expires', async () => {
    const seen: string[] = []
    let opened = 0
    let ended = 0
    const followed = followTrip(ada, id, {
      onProgress: ({ step, steps }) => seen.push(`${step}/${steps}`),
      onOpen: () => {
        opened += 1
      },
      // What is published while nobody listens must still arrive.
      onEnd: () => {
        ended += 1
        if (ended === 1) release(3)
      },
    })
    await page.waitForSelector('body[data-opened]')
    release(1, 2)
    await expect.poll(stepsOnPage, { timeout: 30_000 }).toEqual(['1/6', '2/6'])
    await expect.poll(() => seen, { timeout: 30_000 }).toEqual(['1/6', '2/6'])

    // Both tokens expire; both clients come back by themselves.
    await expect.poll(() => opened, { timeout: 60_000 }).toBeGreaterThan(1)
    const openings = async () => Number(await page.getAttribute('body', 'data-opened'))
    await expect.poll(openings, { timeout: 60_000 }).toBeGreaterThan(1)

    release(4, 5, 6)
    await followed
    await page.locator('#state', { hasText: 'done' }).waitFor()
    const all = ['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']
    expect(seen).toEqual(all)
    expect(await stepsOnPage()).toEqual(all)
  }, 180_000)

  it('the cookie reaches the hub and no script', async () => {
    const cookies = await page.context().cookies(trips.hubUrl)
    const cookie = cookies.find(({ name }) => name === '__Secure-mercure_access_token')
    // The last one may have expired by now; a look at the trip brings a fresh one.
    if (!cookie)
      await page.evaluate((path) => fetch(path).then(({ status }) => status), `/trips/${id}`)
    const [fresh] = (await page.context().cookies(trips.hubUrl)).filter(
      ({ name }) => name === '__Secure-mercure_access_token',
    )
    expect(fresh).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'Strict',
      path: '/.well-known/mercure',
    })
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  it('a stranger gets the same 404 bytes as for a missing trip, and no cookie', async () => {
    for (const tail of ['/mercure-token', '']) {
      const [foreign, missing] = await Promise.all([
        ask(bob, `/trips/${id}${tail}`),
        ask(bob, `/trips/no-such-trip${tail}`),
      ])
      expect(foreign).toEqual(missing)
      expect(foreign.status).toBe(404)
      expect(foreign.headers).not.toHaveProperty('set-cookie')
      expect(foreign.headers).not.toHaveProperty('link')
    }
    await expect(fetchToken(bob, id)).rejects.toThrow(NoSuchTripError)
    await expect(followTrip(bob, id, { onProgress: () => undefined })).rejects.toThrow(
      NoSuchTripError,
    )
  })

  it('a stranger with a good token of another trip receives nothing of this one', async () => {
    const created = await send({
      url: `${bob.appUrl}/trips`,
      ca: bob.ca,
      method: 'POST',
      headers: { authorization: `Bearer ${bob.session}`, 'content-type': 'application/json' },
      body: JSON.stringify({ destination: 'Porto' }),
    })
    const own = JSON.parse(await textOf(created)).id
    const own404 = await ask(ada, `/trips/${own}`)
    expect(own404.status).toBe(404)
    const token = await fetchToken(bob, own)
    const matches = [id, own].map((one) => `match=${encodeURIComponent(`/trips/${one}`)}`).join('&')
    const url = `${trips.hubUrl}?${matches}&last_event_id=earliest`
    const stream = await send({ url, ca: bob.ca, headers: { authorization: `Bearer ${token}` } })
    // The hub ends the stream with the token, so this reads all that the stranger may ever see.
    const text = await textOf(stream)
    const steps = [...text.matchAll(/"step":(\d+)/g)].map(([, step]) => Number(step))
    expect(steps).toEqual([1, 2, 3, 4, 5, 6])
  }, 60_000)

  it('no token was written to a log or a URL', () => {
    expect(trips.brokerLog()).not.toMatch(/eyJ[\w-]+\.[\w-]+\./)
  })
})
