import { afterEach, describe, expect, it } from 'vitest'
import { FetchError, type FetchLimits, fetchJson } from '../../src/keys/index.ts'
import {
  bodyAnswer,
  chunkedAnswer,
  closedPort,
  dripAnswer,
  endlessAnswer,
  type JwksAnswer,
  negotiatedAnswer,
  redirectAnswer,
  resetAnswer,
  silentAnswer,
  sizedAnswer,
  stalledBodyAnswer,
  startJwksServer,
  statusAnswer,
  truncatedAnswer,
} from '../support/jwks-server.ts'

const LIMITS: FetchLimits = { timeoutMs: 30_000, maxBytes: 65_536 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

async function fetched(answer: JwksAnswer, limits: Partial<FetchLimits> = {}): Promise<unknown> {
  const server = await startJwksServer()
  cleanups.push(server.stop)
  server.answer(answer)
  return await fetchJson(server.url, { ...LIMITS, ...limits })
}

async function codeOf(fetching: Promise<unknown>): Promise<string> {
  try {
    await fetching
    return 'none'
  } catch (error) {
    if (error instanceof FetchError) return error.code
    throw error
  }
}

describe('fetching a JSON document', () => {
  it('takes either JSON type, sized or chunked, up to the cap', async () => {
    expect(await fetched(negotiatedAnswer([]))).toEqual({ keys: [] })
    expect(await fetched(sizedAnswer([], LIMITS.maxBytes))).toEqual({ keys: [] })
    expect(await fetched(chunkedAnswer([], LIMITS.maxBytes))).toEqual({ keys: [] })
  })

  it.each([
    ['malformed', bodyAnswer('{')],
    ['malformed', bodyAnswer('')],
    ['status', statusAnswer(500)],
    ['status', statusAnswer(404)],
    ['status', bodyAnswer('{}', 201)],
    ['redirect', redirectAnswer('http://127.0.0.1:1/')],
    ['redirect', redirectAnswer('/elsewhere', 308)],
    ['too_large', sizedAnswer([], LIMITS.maxBytes + 1)],
    ['too_large', chunkedAnswer([], LIMITS.maxBytes + 1)],
    ['too_large', endlessAnswer],
    ['unreachable', resetAnswer],
    ['unreachable', truncatedAnswer],
  ] as const)('fails as %s', async (code, answer) => {
    expect(await codeOf(fetched(answer))).toBe(code)
  })

  it.each([
    ['the head', silentAnswer],
    ['the body', stalledBodyAnswer],
    ['the next byte', dripAnswer],
  ])('the time limit covers waiting for %s', async (_what, answer) => {
    expect(await codeOf(fetched(answer, { timeoutMs: 100 }))).toBe('timeout')
  })

  it('a port where nobody listens is unreachable', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`
    expect(await codeOf(fetchJson(url, LIMITS))).toBe('unreachable')
  })

  it('an https address whose certificate nobody vouches for fails as tls', async () => {
    const { selfSignedCertificate } = await import('../support/certificate.ts')
    const { rsaKey } = await import('../support/keys.ts')
    const { privateKey, publicKey, privatePem } = rsaKey()
    const tls = { key: privatePem, cert: selfSignedCertificate(privateKey, publicKey) }
    const server = await startJwksServer([], tls)
    cleanups.push(server.stop)
    expect(await codeOf(fetchJson(server.url, LIMITS))).toBe('tls')
  })

  it('is called off by its signal, before and during', async () => {
    expect(await codeOf(fetched(silentAnswer, { signal: AbortSignal.abort() }))).toBe('aborted')
    const server = await startJwksServer()
    cleanups.push(server.stop)
    server.answer(silentAnswer)
    const stop = new AbortController()
    const fetching = fetchJson(server.url, { ...LIMITS, signal: stop.signal })
    await server.fetched(1)
    stop.abort()
    expect(await codeOf(fetching)).toBe('aborted')
  })
})
