import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IssuerApp, objectOf, startIssuer } from './issuer-app.ts'

let app: IssuerApp
beforeAll(async () => {
  app = await startIssuer()
})
afterAll(() => app.close())

const statusOf = async (method: string, path: string, body?: unknown) =>
  (await app.admin(method, path, body)).status

describe('herds', () => {
  it('are created once, listed by id and deleted once', async () => {
    const created = await app.admin('POST', '/herds', { id: 'zebra' })
    expect(created.status).toBe(201)
    expect(await objectOf(created)).toMatchObject({ id: 'zebra' })
    expect(await statusOf('POST', '/herds', { id: 'zebra' })).toBe(409)
    await app.admin('POST', '/herds', { id: 'alpha/one' })
    const { herds } = await objectOf(await app.admin('GET', '/herds'))
    expect(herds).toMatchObject([{ id: 'alpha/one' }, { id: 'zebra' }])
    expect(await statusOf('DELETE', '/herds/alpha%2Fone')).toBe(204)
    expect(await statusOf('DELETE', '/herds/alpha%2Fone')).toBe(404)
  })

  it.each([
    '',
    '/',
    'a/',
    '/a',
    'a//b',
    '.',
    '..',
    'a/../b',
    'a%20b',
    'a\\b',
    'a\0b',
    'a\nb',
    'x'.repeat(256),
    7,
    null,
    ['a'],
  ])('the id %j is 400, because no path could mean it alone', async (id) => {
    const answer = await app.admin('POST', '/herds', { id })
    expect(answer.status).toBe(400)
    expect(await objectOf(answer)).toEqual({ error: 'Invalid argument: id' })
  })

  it.each([
    'ü',
    'a b',
    'a:b',
    'a+b',
    'a.b',
    '...',
    '#',
    '__proto__',
    'constructor',
    'x'.repeat(255),
  ])('the id %j can be created, granted and deleted', async (id) => {
    expect(await statusOf('POST', '/herds', { id })).toBe(201)
    const herd = encodeURIComponent(id)
    expect(await statusOf('PUT', `/users/ada/herds/${herd}/realtime_streams.read`)).toBe(204)
    expect((await app.store.userGrants('ada')).read).toEqual([id])
    expect(await statusOf('DELETE', `/herds/${herd}`)).toBe(204)
    expect((await app.store.userGrants('ada')).read).toEqual([])
  })
})

describe('devices', () => {
  it('show their api key once and keep only its hash', async () => {
    await app.admin('POST', '/herds', { id: 'farm' })
    const answer = await app.admin('POST', '/devices', { herd_id: 'farm', name: 'gate camera' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const device = await objectOf(answer)
    expect(Object.keys(device)).toEqual(['id', 'herd_id', 'name', 'api_key'])
    expect(device).toMatchObject({ herd_id: 'farm', name: 'gate camera' })
    const listing = await (await app.admin('GET', '/devices')).text()
    expect(JSON.parse(listing).devices).toMatchObject([
      { id: device['id'], herd_id: 'farm', name: 'gate camera' },
    ])
    const secret = await app.store.deviceSecret(String(device['id']))
    for (const hidden of [String(device['api_key']), secret?.keyHash ?? '']) {
      expect(listing).not.toContain(hidden)
    }
    expect(secret?.keyHash).not.toContain(String(device['api_key']))
  })

  it('rotate to a new key', async () => {
    const { id, api_key: first } = await app.device('rota')
    const answer = await app.admin('POST', `/devices/${id}/rotate`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const rotated = await objectOf(answer)
    expect(Object.keys(rotated)).toEqual(['id', 'api_key'])
    expect(rotated['id']).toBe(id)
    expect(rotated['api_key']).not.toBe(first)
  })

  it.each<[string, string, unknown, number]>([
    ['POST', '/devices', { herd_id: 'no-such-herd', name: 'x' }, 404],
    ['POST', '/devices', { herd_id: 'farm' }, 400],
    ['POST', '/devices', { herd_id: 'farm', name: '' }, 400],
    ['POST', '/devices', { name: 'x' }, 400],
    ['POST', '/devices', undefined, 400],
    ['POST', '/devices/not-a-device/rotate', undefined, 404],
    ['POST', '/devices/01890000-0000-7000-8000-000000000000/rotate', undefined, 404],
    ['DELETE', '/devices/01890000-0000-7000-8000-000000000000', undefined, 404],
    ['DELETE', '/devices/x', undefined, 404],
  ])('%s %s with %j is %d', async (method, path, body, status) => {
    expect(await statusOf(method, path, body)).toBe(status)
  })
})

describe('abilities and superadmins', () => {
  it('are granted and withdrawn any number of times', async () => {
    await app.admin('POST', '/herds', { id: 'pen' })
    const path = '/users/auth0%7C42/herds/pen/realtime_streams.write'
    for (const method of ['PUT', 'PUT']) expect(await statusOf(method, path)).toBe(204)
    expect(await app.store.userGrants('auth0|42')).toEqual({
      superadmin: false,
      write: ['pen'],
      read: [],
    })
    for (const method of ['DELETE', 'DELETE']) expect(await statusOf(method, path)).toBe(204)
    expect((await app.store.userGrants('auth0|42')).write).toEqual([])
    for (const method of ['PUT', 'PUT']) {
      expect(await statusOf(method, '/users/boss/superadmin')).toBe(204)
    }
    expect((await app.store.userGrants('boss')).superadmin).toBe(true)
    for (const method of ['DELETE', 'DELETE']) {
      expect(await statusOf(method, '/users/boss/superadmin')).toBe(204)
    }
    expect((await app.store.userGrants('boss')).superadmin).toBe(false)
  })

  it.each([
    ['PUT', '/users/ada/herds/no-such-herd/realtime_streams.read', 404],
    ['PUT', '/users/ada/herds/pen/realtime_streams.delete', 400],
    ['PUT', '/users/ada/herds/pen/__proto__', 400],
    ['PUT', '/users/ada/herds/a%2F..%2Fb/realtime_streams.read', 400],
    ['PUT', `/users/${'u'.repeat(256)}/superadmin`, 400],
    ['PUT', '/users/a%00b/superadmin', 400],
  ])('%s %s is %d', async (method, path, status) => {
    expect(await statusOf(method, path)).toBe(status)
  })

  it('names that are members of every object hold nothing', async () => {
    for (const user of ['__proto__', 'constructor', 'toString']) {
      expect(await app.store.userGrants(user)).toEqual({ superadmin: false, write: [], read: [] })
    }
  })
})

describe('what was administered', () => {
  it('survives a restart', async () => {
    const first = await startIssuer()
    await first.grant('ada', 'stable', 'read')
    const { id } = await first.device('stable')
    await first.admin('PUT', '/users/root/superadmin')
    await first.stop()
    const second = await startIssuer({ dataDir: first.dataDir })
    expect(await second.store.userGrants('ada')).toMatchObject({ read: ['stable'] })
    expect((await second.store.userGrants('root')).superadmin).toBe(true)
    expect(await second.store.deviceSecret(id)).toMatchObject({ herdId: 'stable' })
    await second.close()
  })
})
