import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { HS_SECRET } from '../support/keys.ts'
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
