import { X509Certificate } from 'node:crypto'
import * as jose from 'jose'
import { describe, expect, it } from 'vitest'
import { START_S } from './clock.ts'
import { startApp } from './express-app.ts'
import { negotiatedAnswer, startJwksServer, statusAnswer } from './jwks-server.ts'
import { certificatePem, ecKey, edKey, HS_SECRET, pkcs1Pem, rsaKey } from './keys.ts'
import { rawRequest } from './raw-request.ts'
import { mint, tokenOfSize, withBrokenSignature } from './tokens.ts'

const currentDate = new Date(START_S * 1000)
const verifiers = {
  HS: Buffer.from(HS_SECRET),
  RS: rsaKey().publicKey,
  PS: rsaKey().publicKey,
  Ed: edKey().publicKey,
}

describe('token fixtures', () => {
  it.each(['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'EdDSA'])(
    'a minted %s token is accepted by an independent library',
    async (alg) => {
      const key = verifiers[alg.slice(0, 2) as keyof typeof verifiers]
      const { payload } = await jose.jwtVerify(mint({ alg }), key, { currentDate })
      expect(payload['role']).toBe('read-write')
    },
  )

  it('a minted ES256 token is accepted, its DER twin and a broken signature are not', async () => {
    const verify = (token: string) => jose.jwtVerify(token, ecKey().publicKey, { currentDate })
    const der = mint({ alg: 'ES256-DER', key: ecKey().privateKey, header: { alg: 'ES256' } })
    await expect(verify(mint({ alg: 'ES256' }))).resolves.toBeDefined()
    await expect(verify(der)).rejects.toThrow('signature')
    await expect(verify(withBrokenSignature(mint({ alg: 'ES256' })))).rejects.toThrow('signature')
  })

  it('a padded token has the size asked for', () => {
    expect(tokenOfSize(7000).length).toBeGreaterThanOrEqual(7000)
    expect(tokenOfSize(7000).length).toBeLessThan(7004)
  })
})

describe('key fixtures', () => {
  it('one name is one key, another name another', () => {
    expect(rsaKey('a')).toBe(rsaKey('a'))
    expect(edKey('a').publicPem).not.toBe(edKey('b').publicPem)
  })

  it('an RSA key has SPKI, PKCS#1 and certificate forms', () => {
    expect(rsaKey().publicPem).toMatch(/^-----BEGIN PUBLIC KEY/)
    expect(pkcs1Pem(rsaKey())).toMatch(/^-----BEGIN RSA PUBLIC KEY/)
    const certificate = new X509Certificate(certificatePem(rsaKey()))
    expect(certificate.verify(rsaKey().publicKey)).toBe(true)
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
  })
})

describe('key server', () => {
  it('serves its set, counts fetches, and answers what it is told', async () => {
    const server = await startJwksServer([rsaKey().jwk()])
    expect(await (await fetch(server.url)).json()).toEqual({ keys: [rsaKey().jwk()] })
    server.answer(statusAnswer(500))
    expect((await fetch(server.url)).status).toBe(500)
    server.answer(negotiatedAnswer([]))
    expect((await fetch(server.url)).status).toBe(406)
    await server.fetched(3)
    expect(server.fetches).toBe(3)
    await server.stop()
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
    await server.start()
    expect((await fetch(server.url)).status).toBe(406)
    await server.stop()
  })
})

describe('raw requests', () => {
  it('the target reaches the app as written, and the answer comes back whole', async () => {
    const app = await startApp((express) => {
      express.use((req, res) => {
        res.append('x-twice', ['a', 'b']).status(418).send(req.originalUrl)
      })
    })
    const answer = await rawRequest(app.port, { target: '//a/../%2e' })
    expect([answer.status, answer.body]).toEqual([418, '//a/../%2e'])
    expect(answer.headers.filter(([name]) => name === 'x-twice')).toHaveLength(2)
    await app.close()
  })
})
