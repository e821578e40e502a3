import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { brokerAuth, loadAuthConfig, type RouteTableInput } from '../../src/auth.ts'
import { HS_SECRET } from '../support/keys.ts'
import { rawRequest } from '../support/raw-request.ts'
import { mint } from '../support/tokens.ts'

const claims = (role: string) => ({ role, iat: undefined, exp: undefined })
const user = mint({ claims: claims('read-write') })
const admin = mint({ claims: claims('admin') })

describe('an Express app that ignores letter case and trailing slashes, as is the default', () => {
  let server: Server
  let url: string

  beforeAll(async () => {
    const config = loadAuthConfig({ JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET })
    const app = express()
    const rules = [
      { methods: '*' as const, path: '/reports/all', level: 'admin' as const },
      { methods: '*' as const, path: '/open', level: 'public' as const },
    ]
    app.use(brokerAuth(config, { rules: { rules }, logger: false }))
    app.get(['/reports/all', '/open'], (req, res) => {
      res.json(req.auth)
    })
    server = await new Promise((resolve) => {
      const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
    })
    // A listening TCP server has an address with a port.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
  })

  const status = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return (await fetch(url + path, { headers })).status
  }

  it.each(['/reports/all', '/Reports/ALL', '/reports/all/', '/REPORTS/ALL/'])(
    'guards %s as what the router takes it for',
    async (path) => {
      expect(await status(path, user)).toBe(403)
      expect(await status(path, admin)).toBe(200)
    },
  )

  it('a path is public only as it is written in the rules', async () => {
    expect(await status('/open')).toBe(200)
    expect(await status('/OPEN')).toBe(401)
    expect(await status('/open/')).toBe(401)
  })
})

it('an app that is told to be strict when its router is made already stays guarded as the loose one it is', async () => {
  const config = loadAuthConfig({ JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET })
  const app = express()
  app.use(brokerAuth(config, { logger: false }))
  app.enable('case sensitive routing').enable('strict routing')
  app.get('/api/v1/system/x', (_req, res) => {
    res.json('reached')
  })
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/API/V1/System/x/`, {
    headers: { authorization: `Bearer ${user}` },
  })
  expect(answer.status).toBe(403)
  server.close()
})

/** A plain Express app with these rules; answers the status of one request. */
async function served(
  rules: RouteTableInput,
  build: (app: express.Express) => void,
): Promise<(path: string, token?: string) => Promise<number>> {
  const app = express()
  app.use(
    brokerAuth(loadAuthConfig({ JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET }), {
      rules,
      logger: false,
    }),
  )
  build(app)
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (path, token) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return (
      await rawRequest(port, {
        target: path,
        headers: Object.entries(headers).map((pair) => pair.join(': ')),
      })
    ).status
  }
}

describe('a prefix rule that ends in a slash, in a default app', () => {
  const rules = { rules: [{ methods: '*' as const, prefix: '/admin/', level: 'admin' as const }] }
  const reach = (_req: express.Request, res: express.Response) => {
    res.json('reached')
  }
  const builds: [string, (app: express.Express) => void][] = [
    ["app.get('/admin/')", (app) => app.get('/admin/', reach)],
    ["app.use('/admin/')", (app) => app.use('/admin/', reach)],
    ["app.use('/admin')", (app) => app.use('/admin', reach)],
  ]

  it.each(builds)('guards what the router takes for it: %s', async (_name, build) => {
    const status = await served(rules, build)
    for (const path of ['/admin/', '/Admin/', '/admin', '/ADMIN', '/admin//', '/aDmin%2f']) {
      expect([path, await status(path, user)]).not.toEqual([path, 200])
    }
    expect(await status('/ADMIN', admin)).toBe(200)
  })

  it('takes no time that grows with the square of the slashes in a path', async () => {
    const status = await served(rules, (app) => app.get('/admin/', reach))
    const path = `/${'/'.repeat(15_000)}x`
    for (let i = 0; i < 1000; i += 1) expect(await status(path)).toBe(401)
  })
})

describe('a rule with characters that travel encoded', () => {
  const level = 'admin' as const
  it.each([
    ['/my docs/', '/my%20docs/x'],
    ['/my%20docs/', '/my%20docs/x'],
    ['/café/', '/caf%C3%A9/x'],
    ['/caf%C3%A9/', '/caf%c3%a9/x'],
    ['/@internal/', '/@internal/x'],
    ['/@internal/', '/%40internal/x'],
    ['/a:b/', '/%61%3ab/x'],
  ])('%s guards %s', async (prefix, path) => {
    const table = {
      rules: [{ methods: '*' as const, prefix, level }],
      default: 'read-only' as const,
    }
    const status = await served(table, (app) => app.use((_req, res) => void res.json('reached')))
    expect(await status(path, user)).toBe(403)
    expect(await status(path, admin)).toBe(200)
    expect(await status('/other/x', user)).toBe(200)
  })
})
