import { describe, expect, it } from 'vitest'
import { guardedApp } from '../support/guarded-app.ts'
import { mint } from '../support/tokens.ts'

const OK = [200, undefined]
const BAD_ISSUER = [401, 'Invalid token issuer']
const BAD_AUDIENCE = [401, 'Invalid token audience']
const BAD_CLAIMS = [401, 'Invalid token claims']

async function verdict(env: Record<string, string>, claims: Record<string, unknown>) {
  const app = await guardedApp(env)
  const { status, body } = await app.ask('/api/v1/pop', { token: mint({ claims }) })
  return [status, (body as { error?: string }).error]
}

describe('iss', () => {
  const env = { JWT_ISSUER: 'https://idp.example' }

  it('is not looked at while JWT_ISSUER is empty', async () => {
    for (const iss of ['anyone', undefined, 5, null, []]) {
      expect(await verdict({}, { iss })).toEqual(OK)
    }
  })

  it('passes when it equals JWT_ISSUER exactly', async () => {
    expect(await verdict(env, { iss: 'https://idp.example' })).toEqual(OK)
  })

  it.each([
    'https://idp.example/',
    'https://idp.example ',
    ' https://idp.example',
    'HTTPS://idp.example',
    'https://IDP.example',
    'https://idp.exampl',
    'https://idp.example.evil',
    'https://idp.example/v2.0',
    '',
  ])('%j is another issuer', async (iss) => {
    expect(await verdict(env, { iss })).toEqual(BAD_ISSUER)
  })

  it('a configured trailing slash is kept, and wanted', async () => {
    const slash = { JWT_ISSUER: 'https://idp.example/' }
    expect(await verdict(slash, { iss: 'https://idp.example/' })).toEqual(OK)
    expect(await verdict(slash, { iss: 'https://idp.example' })).toEqual(BAD_ISSUER)
  })

  it('a missing iss is 401 Invalid token issuer where one is configured', async () => {
    expect(await verdict(env, {})).toEqual(BAD_ISSUER)
  })

  it.each([[5], [true], [null], [['https://idp.example']], [{}]])(
    'iss %j is 401 Invalid token claims where one is configured',
    async (iss) => {
      expect(await verdict(env, { iss })).toEqual(BAD_CLAIMS)
    },
  )
})

describe('aud', () => {
  const env = { JWT_AUDIENCE: 'queue' }

  it('is not looked at while JWT_AUDIENCE is empty', async () => {
    for (const aud of ['anyone', ['a', 'b'], undefined, 5, null, {}]) {
      expect(await verdict({}, { aud })).toEqual(OK)
    }
  })

  it.each([
    ['queue'],
    [['queue']],
    [['other', 'queue']],
    [['queue', 'other']],
    [['queue', 'queue']],
  ])('passes as a string or an array with one match: %j', async (aud) => {
    expect(await verdict(env, { aud })).toEqual(OK)
  })

  it.each(['Queue', 'queue ', 'queues', 'que', '', 'other queue', 'queue,other'])(
    '%j is another audience, alone or in an array',
    async (aud) => {
      expect(await verdict(env, { aud })).toEqual(BAD_AUDIENCE)
      expect(await verdict(env, { aud: [aud] })).toEqual(BAD_AUDIENCE)
    },
  )

  it('a missing or empty aud is 401 Invalid token audience where one is configured', async () => {
    expect(await verdict(env, {})).toEqual(BAD_AUDIENCE)
    expect(await verdict(env, { aud: [] })).toEqual(BAD_AUDIENCE)
  })

  it.each([5, true, null, {}, { queue: true }])(
    'aud %j is 401 Invalid token claims where one is configured',
    async (aud) => {
      expect(await verdict(env, { aud })).toEqual(BAD_CLAIMS)
    },
  )

  it('a nested array is no audience', async () => {
    const [status] = await verdict(env, { aud: [['queue']] })
    expect(status).toBe(401)
  })
})
