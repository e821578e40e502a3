import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IssuerStore } from '../../src/issuer/index.ts'
import { type PublicJwk, parsePublicJwk } from '../../src/keys/index.ts'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'

/** A store under test and what ends it. */
export interface OpenedStore {
  readonly store: IssuerStore
  close(): Promise<void>
}

const es = (kid: string): PublicJwk => parsePublicJwk(ecKey(kid).jwk({ alg: 'ES256' }))
const NOW = 1_800_000_000_000

/** What every issuer store has to do, whatever it is made of. */
export function issuerStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`issuer store: ${name}`, () => {
    let opened: OpenedStore
    let store: IssuerStore
    beforeAll(async () => {
      opened = await open()
      store = opened.store
    })
    afterAll(() => opened.close())

    describe('public keys', () => {
      it('are kept as they are, oldest first, whatever their kind', async () => {
        const kinds = [
          parsePublicJwk(rsaKey('c-rsa').jwk({ alg: 'PS256' })),
          parsePublicJwk(edKey('c-ed').jwk({ alg: 'EdDSA' })),
          es('c-es'),
        ]
        for (const [at, jwk] of kinds.entries()) await store.insertKey(jwk, NOW + at)
        expect(await store.keys()).toEqual(
          kinds.map((jwk, at) => ({ kid: jwk.kid, jwk, createdAtMs: NOW + at, revokedAtMs: null })),
        )
      })

      it('insert leaves a known kid as it is, revoked or not', async () => {
        const other = { ...es('c-other'), kid: 'c-es' }
        expect(await store.insertKey(other, NOW + 9)).toMatchObject({ jwk: es('c-es') })
        await store.revokeKey('c-es', NOW + 10)
        expect(await store.insertKey(es('c-es'), NOW + 11)).toMatchObject({ revokedAtMs: NOW + 10 })
      })

      it('revoke keeps the row and the first date', async () => {
        expect(await store.revokeKey('c-es', NOW + 20)).toMatchObject({ revokedAtMs: NOW + 10 })
        expect((await store.keys()).map((row) => row.kid)).toContain('c-es')
        expect(await store.revokeKey('c-unknown', NOW)).toBeUndefined()
      })

      it('upsert replaces, un-revokes and keeps the date of creation', async () => {
        const next = { ...es('c-next'), kid: 'c-es' }
        expect(await store.upsertKey(next, NOW + 30)).toEqual({
          kid: 'c-es',
          jwk: next,
          createdAtMs: NOW + 2,
          revokedAtMs: null,
        })
      })

      it('a write is seen by the next read', async () => {
        await store.upsertKey(es('c-fresh'), NOW + 40)
        expect((await store.keys()).map((row) => row.kid)).toContain('c-fresh')
      })
    })

    describe('principals', () => {
      const device = { id: '0189aaaa-0000-7000-8000-000000000001', herdId: 'h1', name: 'cam' }

      it('a herd exists once', async () => {
        const herd = { id: 'h1', createdAtMs: NOW }
        expect(await store.createHerd(herd)).toBe(true)
        expect(await store.createHerd({ ...herd, createdAtMs: NOW + 1 })).toBe(false)
        await store.createHerd({ id: 'h2/sub', createdAtMs: NOW })
        expect(await store.herds()).toEqual([herd, { id: 'h2/sub', createdAtMs: NOW }])
      })

      it('a device belongs to a herd that exists', async () => {
        const row = { ...device, createdAtMs: NOW }
        expect(await store.createDevice({ ...row, herdId: 'none' }, 'aa')).toBe(false)
        expect(await store.createDevice(row, 'aa')).toBe(true)
        expect(await store.devices()).toEqual([row])
        expect(await store.deviceSecret(device.id)).toEqual({ herdId: 'h1', keyHash: 'aa' })
      })

      it('a device’s key is replaced, and only that of a known device', async () => {
        expect(await store.rotateDevice(device.id, 'bb')).toBe(true)
        expect((await store.deviceSecret(device.id))?.keyHash).toBe('bb')
        expect(await store.rotateDevice('0189aaaa-0000-7000-8000-00000000000f', 'cc')).toBe(false)
        expect(await store.deviceSecret('0189aaaa-0000-7000-8000-00000000000f')).toBeUndefined()
      })

      it('abilities are sets, sorted by herd', async () => {
        const read = { user: 'u', ability: 'realtime_streams.read' } as const
        const write = { user: 'u', ability: 'realtime_streams.write' } as const
        expect(await store.grant({ ...read, herdId: 'none' })).toBe(false)
        for (const herdId of ['h2/sub', 'h1', 'h1']) {
          expect(await store.grant({ ...read, herdId })).toBe(true)
        }
        await store.grant({ ...write, herdId: 'h2/sub' })
        const grants = { superadmin: false, read: ['h1', 'h2/sub'], write: ['h2/sub'] }
        expect(await store.userGrants('u')).toEqual(grants)
        await store.withdraw({ ...read, herdId: 'h1' })
        await store.withdraw({ ...read, herdId: 'never' })
        expect(await store.userGrants('u')).toEqual({ ...grants, read: ['h2/sub'] })
        expect(await store.userGrants('U')).toEqual({ superadmin: false, read: [], write: [] })
      })

      it('the superadmin mark is set and cleared', async () => {
        for (const on of [true, true, false, false]) {
          await store.setSuperadmin('root', on)
          expect((await store.userGrants('root')).superadmin).toBe(on)
        }
      })

      it('a deleted herd takes its devices and abilities, and leaves those of others', async () => {
        await store.grant({ user: 'u', herdId: 'h1', ability: 'realtime_streams.read' })
        expect(await store.deleteHerd('h1')).toBe(true)
        expect(await store.deleteHerd('h1')).toBe(false)
        expect(await store.devices()).toEqual([])
        expect((await store.userGrants('u')).read).toEqual(['h2/sub'])
        expect(await store.deleteDevice(device.id)).toBe(false)
      })

      it('many writes at once all count', async () => {
        const ids = Array.from({ length: 50 }, (_, n) => `many-${String(n).padStart(2, '0')}`)
        const made = await Promise.all(
          [...ids, ...ids].map((id) => store.createHerd({ id, createdAtMs: NOW })),
        )
        expect(made.filter(Boolean)).toHaveLength(50)
        const herds = (await store.herds()).map((herd) => herd.id)
        expect(herds.filter((id) => id.startsWith('many-'))).toEqual(ids)
      })
    })
  })
}
