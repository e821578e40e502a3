import { describe, expect, it } from 'vitest'
import { loadAuthConfig } from '../../../src/auth.ts'
import { roleKeys } from '../../../src/http/gate/key-sources.ts'
import { TokenVerifier } from '../../../src/http/gate/verifier.ts'
import { NO_LOG } from '../../../src/keys/index.ts'
import { jwtEnvironment } from '../../support/guarded-app.ts'
import { mint } from '../../support/tokens.ts'

const START_S = 1_800_000_000
const token = mint({ claims: { iat: START_S, exp: START_S + 60 } })

/** A verifier that has seen the token, its clock and a change of its keys. */
async function warm(cacheSize?: number) {
  const config = loadAuthConfig(jwtEnvironment())
  const clock = { nowS: START_S, now: () => clock.nowS * 1000 }
  let change = (): void => {
    throw new Error('nobody wants to know of changes')
  }
  const keys = {
    ...roleKeys(config, NO_LOG, clock),
    onChange: (call: () => void) => {
      change = call
    },
  }
  const verifier = new TokenVerifier(config, keys, clock, cacheSize)
  await verifier.verify(`Bearer ${token}`)
  return { verifier, clock, change: () => change() }
}

describe('a token that was verified before', () => {
  it('is known at once, however its credential is written, in one turn of the event loop and in the next', async () => {
    const { verifier } = await warm()
    for (let turn = 0; turn < 2; turn += 1) {
      for (const credential of [`Bearer ${token}`, `bearer ${token}`, token, `Bearer ${token}`]) {
        expect(verifier.verify(credential)).toMatchObject({ identity: { sub: 'tester' } })
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it('is expired from its moment on, within the same turn too', async () => {
    const { verifier, clock } = await warm()
    expect(verifier.verify(token)).toHaveProperty('identity')
    clock.nowS = START_S + 60 + 31
    expect(() => verifier.verify(token)).toThrow('exp')
  })

  it('is verified anew after the keys changed, within the same turn too', async () => {
    const { verifier, change } = await warm()
    expect(verifier.verify(token)).toHaveProperty('identity')
    change()
    const anew = verifier.verify(token)
    expect(anew).toBeInstanceOf(Promise)
    await anew
  })

  it('is verified anew each time when none are remembered', async () => {
    const { verifier } = await warm(0)
    for (let i = 0; i < 3; i += 1) await expect(verifier.verify(token)).toBeInstanceOf(Promise)
  })

  it('says nothing about a token that differs in one character', async () => {
    const { verifier } = await warm()
    expect(verifier.verify(token)).toHaveProperty('identity')
    const other = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.slice(-1)
    await expect(verifier.verify(other)).rejects.toThrow()
  })
})
