import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Stores } from '../../src/assembly/stores.ts'
import type { IssuerStore } from '../../src/issuer/index.ts'
import { KeyRegistry } from '../../src/issuer/index.ts'
import { type PublicJwk, parsePublicJwk } from '../../src/keys/index.ts'
import { fakeClock } from '../support/clock.ts'
import { openKeptStores } from '../support/kept-stores.ts'
import { ecKey, edKey } from '../support/keys.ts'
import { dropStore } from '../support/test-store.ts'

const clock = fakeClock()
const jwk = (kid: string): PublicJwk => parsePublicJwk(ecKey(kid).jwk({ alg: 'ES256' }))
const request = (kid: string) => ({ kind: 'ec-p256' as const, jwkAlgs: ['ES256'], kid })

let dataDir: string
let stores: Stores
let store: IssuerStore
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hivegate-registry-'))
  stores = await openKeptStores(dataDir)
  store = stores.issuer
})
afterEach(async () => {
  await stores.close()
  await dropStore(dataDir)
  await rm(dataDir, { recursive: true })
})

describe('key registry', () => {
  it('is a key source of active keys whose kind and alg fit', async () => {
    const registry = await KeyRegistry.open({ store, clock })
    await registry.upsert(jwk('a'))
    await registry.upsert(parsePublicJwk(edKey('e').jwk({ alg: 'EdDSA' })))
    expect(registry.candidates(request('a'))).toMatchObject([{ kid: 'a', alg: 'ES256' }])
    expect(registry.candidates({ ...request('a'), jwkAlgs: ['ES384'] })).toEqual([])
    for (const kid of ['e', 'unknown', '', '__proto__']) {
      expect(registry.candidates(request(kid))).toEqual([])
    }
    await registry.revoke('a')
    expect(registry.candidates(request('a'))).toEqual([])
  })

  it('tells of each key whose tokens are refused from now on, once', async () => {
    const registry = await KeyRegistry.open({ store, clock })
    const retired: string[] = []
    let changes = 0
    const stop = registry.onRetired((kid) => retired.push(kid))
    registry.onChange(() => {
      changes += 1
    })
    await registry.upsert(jwk('a'))
    await registry.revoke('a')
    await registry.revoke('a')
    await registry.upsert(jwk('a'))
    stop()
    await registry.revoke('a')
    expect(retired).toEqual(['a'])
    expect(changes).toBe(4)
  })

  it('sees what another process wrote when it looks again', async () => {
    const here = await KeyRegistry.open({ store, clock })
    const elsewhere = await KeyRegistry.open({ store, clock })
    const retired: string[] = []
    here.onRetired((kid) => retired.push(kid))
    await elsewhere.upsert(jwk('a'))
    await here.refresh()
    expect(here.find('a')).toEqual(jwk('a'))
    await elsewhere.revoke('a')
    await here.refresh()
    expect(here.isRevoked('a')).toBe(true)
    expect(retired).toEqual(['a'])
  })

  it('says nothing of a look that brings nothing new', async () => {
    const registry = await KeyRegistry.open({ store, clock })
    await registry.upsert(jwk('a'))
    let changes = 0
    registry.onChange(() => {
      changes += 1
    })
    await registry.refresh()
    expect(changes).toBe(0)
  })

  it('with refreshMs looks by itself, until it is closed', async () => {
    const here = await KeyRegistry.open({ store, clock, refreshMs: 5 })
    const elsewhere = await KeyRegistry.open({ store, clock })
    await elsewhere.upsert(jwk('a'))
    const retired = new Promise<string>((resolve) => here.onRetired(resolve))
    // A key that is revoked before it was ever seen has nothing to end.
    await expect.poll(() => here.find('a')).toBeDefined()
    await elsewhere.revoke('a')
    expect(await retired).toBe('a')
    here.close()
  })

  it('a look that began before a write never undoes it', async () => {
    const slow = Promise.withResolvers<void>()
    const late: IssuerStore = {
      ...store,
      async keys() {
        const rows = await store.keys()
        await slow.promise
        return rows
      },
    }
    slow.resolve()
    const registry = await KeyRegistry.open({ store: late, clock })
    const gate = Promise.withResolvers<void>()
    slow.promise = gate.promise
    const looking = registry.refresh()
    await registry.upsert(jwk('a'))
    gate.resolve()
    await looking
    expect(registry.find('a')).toBeDefined()
  })
})
