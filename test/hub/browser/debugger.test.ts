import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'
import { faultsOf, openBrowser } from '../../support/browser.ts'

let broker: TestBroker
let browser: Awaited<ReturnType<typeof openBrowser>>

beforeAll(async () => {
  broker = await startTestBroker({ MERCURE_DEV: 'true' })
  browser = await openBrowser()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await broker?.stop()
})

describe('the debugger page in development mode', () => {
  it('subscribes, publishes, shows the event and the subscription, without a console error', async () => {
    const page = await browser.newPage({ viewport: { width: 400, height: 900 } })
    const faults = faultsOf(page)
    await page.goto(`${broker.url}/.well-known/mercure/debug/`)
    await page.locator('#modes', { hasText: 'development mode' }).waitFor()
    expect(await page.inputValue('#token')).toMatch(/^ey/)
    await page.click('#subscribe button:not([type])')
    await page.locator('#stream-state', { hasText: 'connected' }).waitFor()
    await page.fill('#data', 'hello\nworld')
    await page.fill('#id', 'urn:x:1')
    await page.check('#private')
    await page.click('#publish button')
    await page.locator('#events li', { hasText: 'urn:x:1' }).waitFor()
    expect(await page.locator('#events li pre').first().textContent()).toBe('hello\nworld')
    expect(await page.textContent('#published')).toBe('accepted as urn:x:1')
    await page.click('#refresh')
    await page
      .locator('#subscriptions li', { hasText: 'exact https://example.com/books/1' })
      .waitFor()
    await page.click('#unsubscribe')
    await page.locator('#stream-state', { hasText: 'not connected' }).waitFor()
    await page.fill('#cursor', 'earliest')
    await page.click('#clear')
    await page.click('#subscribe button:not([type])')
    await page.locator('#events li', { hasText: 'urn:x:1' }).waitFor()
    // No part of the page is wider than a narrow screen.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    expect(faults).toEqual([])
    await page.close()
  })

  it('is linked from the dashboard, which stays at /', async () => {
    const page = await browser.newPage({ viewport: { width: 400, height: 900 } })
    const faults = faultsOf(page)
    await page.goto(`${broker.url}/`)
    await page.click('text=Hub debugger')
    await page.waitForURL(`${broker.url}/.well-known/mercure/debug/`)
    expect(faults).toEqual([])
    await page.close()
  })

  it('says in words when the hub refuses', async () => {
    const page = await browser.newPage()
    await page.goto(`${broker.url}/.well-known/mercure/debug/`)
    await page.fill('#topics', '*')
    await page.click('#publish button')
    await page.locator('#published', { hasText: '400 topic: * is reserved' }).waitFor()
    await page.close()
  })
})
