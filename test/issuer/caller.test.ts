import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { CallerReader, type Headers } from '../../src/issuer/caller.ts'
import { claimedDevice, deviceKeyFits, newDeviceKey } from '../../src/issuer/device-keys.ts'
import { IssuerError } from '../../src/issuer/errors.ts'

const SERVICE = 'the-service-key'
const deviceId = randomUUID()
const device = newDeviceKey(deviceId)
const otherKey = newDeviceKey(randomUUID()).apiKey
const forgedKey = newDeviceKey(deviceId).apiKey
const good = 'good.session.token'
const bad = 'bad.session.token'

let asked: string[]
let verified: string[]
let reader: CallerReader
beforeEach(() => {
  asked = []
  verified = []
  reader = new CallerReader({
    serviceRoleKey: SERVICE,
    store: {
      async deviceSecret(id) {
        asked.push(id)
        return id === deviceId ? { herdId: 'herd', keyHash: device.hash } : undefined
      },
    },
    async verifySession(token) {
      verified.push(token)
      return token === good ? 'ada' : undefined
    },
  })
})

/** The caller's kind, or the code of the refusal. */
async function outcome(headers: Headers): Promise<string> {
  try {
    return (await reader.read(headers)).kind
  } catch (error) {
    if (error instanceof IssuerError) return error.code
    throw error
  }
}

const bearer = (token: string) => ({ authorization: [`Bearer ${token}`] })

describe('where a caller shows itself', () => {
  it.each<[string, Headers, string]>([
    ['nothing', {}, 'credential_missing'],
    ['empty headers', { authorization: [' '], apikey: [''] }, 'credential_missing'],
    ['session as Bearer', bearer(good), 'user'],
    ['session, scheme in capitals', { authorization: [`BEARER  ${good}`] }, 'user'],
    ['session beside a project key', { ...bearer(good), apikey: ['anon'] }, 'user'],
    ['service key as Bearer', bearer(SERVICE), 'service'],
    ['service key as apikey', { apikey: [SERVICE] }, 'service'],
    [
      'service key in both, as the client library sends it',
      { ...bearer(SERVICE), apikey: [SERVICE] },
      'service',
    ],
    ['device key as x-api-key', { 'x-api-key': [device.apiKey] }, 'device'],
    ['device key as apikey', { apikey: [device.apiKey] }, 'device'],
    ['device key as Bearer', bearer(device.apiKey), 'device'],
    [
      'device key beside a project key sent twice',
      { ...bearer('anon'), apikey: ['anon'], 'x-api-key': [device.apiKey] },
      'device',
    ],
    [
      'device key beside a project key that is a JWT',
      { ...bearer(bad), apikey: [bad], 'x-api-key': [device.apiKey] },
      'device',
    ],
    ['project key alone', { apikey: ['anon'] }, 'credential_invalid'],
    ['project key twice', { ...bearer('anon'), apikey: ['anon'] }, 'credential_invalid'],
    ['bad session', bearer(bad), 'credential_invalid'],
    [
      'bad session beside the service key',
      { ...bearer(bad), apikey: [SERVICE] },
      'credential_invalid',
    ],
    [
      'bad session beside a device key',
      { ...bearer(bad), 'x-api-key': [device.apiKey] },
      'credential_invalid',
    ],
    [
      'session beside the service key acts as the user',
      { ...bearer(good), apikey: [SERVICE] },
      'user',
    ],
    ['service key as x-api-key', { 'x-api-key': [SERVICE] }, 'credential_invalid'],
    [
      'bad x-api-key beside the service key',
      { 'x-api-key': ['nope'], apikey: [SERVICE] },
      'credential_invalid',
    ],
    ['Basic', { authorization: ['Basic eDp5'] }, 'credential_invalid'],
    ['bare token', { authorization: [good] }, 'credential_invalid'],
    ['scheme alone', { authorization: ['Bearer'] }, 'credential_invalid'],
    [
      'two Authorization headers',
      { authorization: [`Bearer ${good}`, `Bearer ${good}`] },
      'credential_invalid',
    ],
    ['two apikey headers', { apikey: [SERVICE, SERVICE] }, 'credential_invalid'],
    ['service key in other case', { apikey: [SERVICE.toUpperCase()] }, 'credential_invalid'],
    ['longer service key', { apikey: [`${SERVICE}x`] }, 'credential_invalid'],
  ])('%s', async (_what, headers, expected) => {
    expect(await outcome(headers)).toBe(expected)
  })

  it('without a configured service key an empty credential is no service', async () => {
    const open = new CallerReader({
      serviceRoleKey: '',
      store: { deviceSecret: async () => undefined },
      verifySession: async () => undefined,
    })
    await expect(open.read(bearer(' '))).rejects.toMatchObject({ code: 'credential_invalid' })
    await expect(open.read({ apikey: [' '] })).rejects.toMatchObject({ code: 'credential_missing' })
  })
})

describe('device api keys', () => {
  it.each([
    '',
    'nope',
    SERVICE,
    `hgd_${'0'.repeat(32)}`,
    `${device.apiKey}x`,
    device.apiKey.toUpperCase(),
    device.apiKey.slice(1),
  ])('the store is never asked about %j', async (key) => {
    expect(claimedDevice(key)).toBeUndefined()
    await outcome({ 'x-api-key': [key], apikey: [key] })
    expect(asked).toEqual([])
  })

  it('an unknown device and a forged key get one answer', async () => {
    const answers = [await outcome({ apikey: [otherKey] }), await outcome({ apikey: [forgedKey] })]
    expect(answers).toEqual(['credential_invalid', 'credential_invalid'])
    expect(asked).toHaveLength(2)
  })

  it('a session is verified only when it looks like one', async () => {
    await outcome({ ...bearer('anon'), apikey: [SERVICE] })
    await outcome(bearer(device.apiKey))
    expect(verified).toEqual([])
  })

  it('only a hash is kept, and it fits its own key alone', () => {
    expect(device.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(device.apiKey).not.toContain(device.hash)
    expect(claimedDevice(device.apiKey)).toBe(deviceId)
    expect(deviceKeyFits(device.apiKey, device.hash)).toBe(true)
    expect(deviceKeyFits(forgedKey, device.hash)).toBe(false)
    expect(deviceKeyFits(device.apiKey, 'abcd')).toBe(false)
    expect(newDeviceKey(deviceId).apiKey).not.toBe(forgedKey)
  })
})
