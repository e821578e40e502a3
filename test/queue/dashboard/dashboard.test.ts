import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'
import { faultsOf, openBrowser } from '../../support/browser.ts'

const VIEWS = ['overview', 'queues', 'groups', 'messages', 'dlq', 'system'] as const

let broker: TestBroker
let browser: Browser

/** Traffic that leaves something to see in every view. */
async function makeTraffic({ call }: TestBroker): Promise<void> {
  await call('POST /api/v1/configure', { json: { queue: 'orders', options: { retryLimit: 0 } } })
  const items = Array.from({ length: 12 }, (_, n) => ({
    queue: 'orders',
    partition: `p${n % 3}`,
    payload: { n, note: '<b>not markup</b>' },
    transactionId: `order-${n}`,
  }))
  await call('POST /api/v1/push', { json: { items } })
  await call('POST /api/v1/push', { json: { items: [{ queue: 'mail.out', payload: 'hello' }] } })
  const { body } = await call('GET /api/v1/pop/queue/orders/partition/p0?batch=1')
  const [{ transactionId, partitionId, leaseId }] = body.messages
  await call('POST /api/v1/traces', {
    json: { transactionId, partitionId, data: { step: 'charged' }, traceNames: ['billing'] },
  })
  await call('POST /api/v1/ack', {
    json: { transactionId, partitionId, leaseId, status: 'failed', error: 'card declined' },
  })
  await call('GET /api/v1/pop/queue/orders/partition/p1?batch=2')
}

async function visit(page: Page, view: string): Promise<void> {
  await page.goto(`${broker.url}/#/${view}`)
  await page.waitForSelector(`main[data-view="${view.split(/[/?]/)[0]}"]`)
}

const figure = (page: Page, name: string) => page.locator(`[data-figure="${name}"]`).textContent()

async function cells(page: Page, row: string): Promise<string[]> {
  const found = page.locator('tbody tr', { has: page.getByText(row, { exact: true }) }).first()
  return found.locator('td').allInnerTexts()
}

beforeAll(async () => {
  broker = await startTestBroker()
  await makeTraffic(broker)
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await broker?.stop()
})

describe('the dashboard in a real browser, with tokens off', () => {
  test('every view loads without an error and fits the width of a desk and of a phone', async () => {
    for (const [width, colorScheme] of [
      [1200, 'light'],
      [400, 'dark'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme })
      const faults = faultsOf(page)
      for (const view of [...VIEWS, 'queues/orders']) {
        await visit(page, view)
        await page.waitForSelector('main h1')
        expect(await page.locator('#notice').isHidden(), view).toBe(true)
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect(overflow, `${view} at ${width} px`).toBe(0)
      }
      expect(faults).toEqual([])
      await page.close()
    }
  })

  test('the overview shows the figures of the API and draws its plots', async () => {
    const page = await browser.newPage()
    await visit(page, 'overview')
    await page.waitForSelector('dd')
    const { body } = await broker.call('GET /api/v1/resources/overview')
    expect(await figure(page, 'Queues')).toBe(String(body.queues))
    expect(await figure(page, 'Partitions')).toBe(String(body.partitions))
    expect(await figure(page, 'Stored')).toBe(String(body.messages.total))
    expect(await figure(page, 'Pending')).toBe(String(body.messages.pending))
    expect(await figure(page, 'Processing')).toBe(String(body.messages.processing))
    expect(await figure(page, 'Dead letters')).toBe(String(body.messages.deadLetter))
    await expect.poll(() => page.locator('.chart canvas').count()).toBe(4)
    await page.close()
  })

  test('the queue list shows depth, partitions and the largest lag of each queue', async () => {
    const page = await browser.newPage()
    await visit(page, 'queues')
    await page.waitForSelector('table')
    const { body } = await broker.call('GET /api/v1/resources/queues')
    for (const { name, partitions, messages } of body.queues) {
      const row = await cells(page, name)
      expect(row.slice(3, 7)).toEqual(
        [partitions, messages.total, messages.pending, messages.processing].map(String),
      )
    }
    await page.getByRole('link', { name: 'orders' }).click()
    await page.waitForSelector('h2')
    const detail = await broker.call('GET /api/v1/status/queues/orders')
    expect(await figure(page, 'Stored')).toBe(String(detail.body.totals.messages.total))
    expect(await cells(page, 'retryLimit')).toEqual(['retryLimit', '0'])
    await page.close()
  })

  test('consumer groups show their lag and state', async () => {
    const page = await browser.newPage()
    await visit(page, 'groups')
    await page.waitForSelector('table')
    const { body } = await broker.call('GET /api/v1/consumer-groups')
    const group = body.find((row: { queueName: string }) => row.queueName === 'orders')
    const row = await cells(page, '__QUEUE_MODE__')
    expect(row[1]).toBe('orders')
    expect(row.slice(2, 5)).toEqual(
      [group.members, group.partitionsWithLag, group.totalLag].map(String),
    )
    await page.close()
  })

  test('a message shows its payload as text, its groups and its traces', async () => {
    const page = await browser.newPage()
    await visit(page, 'messages?queue=orders')
    await page.getByRole('link', { name: 'order-0', exact: true }).click()
    await page.waitForSelector('ol.timeline')
    const text = await page.locator('main').textContent()
    expect(text).toContain('<b>not markup</b>')
    expect(text).toContain('card declined')
    expect(text).toContain('billing')
    expect(text).toContain('charged')
    await page.close()
  })

  test('the filter of the message browser narrows the list', async () => {
    const page = await browser.newPage()
    await visit(page, 'messages')
    await page.getByLabel('Queue').fill('mail.out')
    await page.getByRole('button', { name: 'Show' }).click()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.close()
  })

  test('a dead letter is replayed from the page and leaves the list', async () => {
    const page = await browser.newPage()
    await visit(page, 'dlq?queue=orders')
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replayed to orders: moved').waitFor()
    await page.getByText('No dead letter.').waitFor()
    expect((await broker.call('GET /api/v1/dlq?queue=orders')).body.total).toBe(0)
    await page.close()
  })

  test('maintenance is switched with the keyboard alone', async () => {
    const page = await browser.newPage()
    await visit(page, 'system')
    const pops = page.getByRole('switch', { name: 'Pop maintenance' })
    for (const [on, key] of [
      ['true', 'Enter'],
      ['false', 'Space'],
    ] as const) {
      await pops.focus()
      await page.keyboard.press(key)
      await expect.poll(() => pops.getAttribute('aria-checked')).toBe(on)
      const { body } = await broker.call('GET /api/v1/system/maintenance/pop')
      expect(String(body.popMaintenanceMode)).toBe(on)
    }
    await page.close()
  })
})
