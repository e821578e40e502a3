import { describe, expect, it, onTestFinished } from 'vitest'
import { createHub, discoveryLinks, HUB_MODULE, sqliteHubStore } from '../../src/hub/index.ts'
import { openInlineHost } from '../../src/storage/index.ts'
import { startApp } from '../support/express-app.ts'
import { hubConfig } from '../support/hub/config.ts'
import { form } from '../support/hub/hub.ts'
import { readStream } from '../support/hub/stream.ts'
import { bearer, publisherToken } from '../support/hub/tokens.ts'

describe('the links of a resource', () => {
  it.each([
    [{ hubUrl: '/h' }, ['</h>; rel="mercure"']],
    [{ hubUrl: '/h', topic: '/t' }, ['</h>; rel="mercure"', '</t>; rel="self"']],
    [
      { hubUrl: 'https://h.example/', lastEventId: 'a"b\\c', type: 'stock', contentType: 'text/x' },
      [
        '<https://h.example/>; rel="mercure"; last-event-id="a\\"b\\\\c"; type="stock"; content-type="text/x"',
      ],
    ],
    [
      { hubUrl: '/h', topic: 'a b>;rel="x"é' },
      ['</h>; rel="mercure"', '<a%20b%3E;rel=%22x%22%C3%A9>; rel="self"'],
    ],
  ])('%j', (discovery, links) => {
    expect(discoveryLinks(discovery)).toEqual(links)
  })

  it('H29: an id beyond Latin-1 goes out as UTF-8', () => {
    const [link = ''] = discoveryLinks({ hubUrl: '/h', lastEventId: 'é–😀' })
    expect(Buffer.from(link, 'latin1').toString()).toBe('</h>; rel="mercure"; last-event-id="é–😀"')
  })
})

describe('row 67: discovery', () => {
  it('last-event-id from the response of a resource closes the gap to the stream', async () => {
    const host = await openInlineHost([HUB_MODULE])
    const store = sqliteHubStore(host, { historySize: 0 })
    const hub = createHub({ config: hubConfig({ anonymous: true }), store })
    await hub.ready
    const app = await startApp((express) => {
      express.use(hub.router)
      express.get('/orders/17', (_req, res) => {
        const links = discoveryLinks({
          hubUrl: '/.well-known/mercure',
          topic: '/orders/17',
          lastEventId: hub.lastEventId(),
        })
        for (const link of links) res.append('Link', link)
        res.end()
      })
    })
    onTestFinished(async () => {
      await hub.close()
      await app.close()
      await host.close()
    })
    const publish = (id: string) =>
      fetch(`${app.url}/.well-known/mercure`, {
        method: 'POST',
        headers: bearer(publisherToken()),
        body: form({ topic: '/orders/17', id }),
      })
    await publish('before')
    const link = (await fetch(`${app.url}/orders/17`)).headers.get('link') ?? ''
    expect(link).toContain('</orders/17>; rel="self"')
    const cursor = /rel="mercure"; last-event-id="([^"]*)"/.exec(link)?.[1] ?? ''
    await publish('between')
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const url = `${app.url}/.well-known/mercure?match=/orders/17&last_event_id=${cursor}`
    const stream = readStream(await fetch(url, { signal: controller.signal }), () =>
      controller.abort(),
    )
    await publish('after')
    expect((await stream.take(2)).map(({ id }) => id)).toEqual(['between', 'after'])
  })
})
