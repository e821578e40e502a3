import { expect, onTestFinished, test } from 'vitest'
import {
  ISSUER_PG_MODULE,
  type IssuerStore,
  KeyRegistry,
  postgresIssuerStore,
} from '../../src/issuer/index.ts'
import { parsePublicJwk } from '../../src/keys/index.ts'
import { openPostgresHost, type PgTarget } from '../../src/storage/index.ts'
import { ecKey } from '../support/keys.ts'
import { createDatabase } from '../support/postgres.ts'
import { postgresRegistries } from './postgres-registries.ts'
import { issuerStoreContract } from './store-contract.ts'

issuerStoreContract('PostgreSQL', postgresRegistries())

const NOW = 1_800_000_000_000
const jwk = (kid: string) => parsePublicJwk(ecKey(kid).jwk({ alg: 'ES256' }))

async function sharedDatabase(): Promise<PgTarget> {
  const database = await createDatabase()
  onTestFinished(() => database.drop())
  return database.target
}

/** The store of another process. */
async function storeOn(target: PgTarget, listens = true): Promise<IssuerStore> {
  const host = await openPostgresHost({
    target,
    modules: [ISSUER_PG_MODULE],
    ...(listens ? {} : { listenTarget: null }),
  })
  onTestFinished(() => host.close())
  return postgresIssuerStore(host)
}

async function registryOn(store: IssuerStore, refreshMs: number): Promise<KeyRegistry> {
  const registry = await KeyRegistry.open({ store, clock: { now: () => NOW }, refreshMs })
  onTestFinished(() => registry.close())
  return registry
}

/** Resolves when the registry says that the kid is retired. */
const retired = (registry: KeyRegistry, kid: string) =>
  new Promise<void>((resolve) => {
    registry.onRetired((gone) => {
      if (gone === kid) resolve()
    })
  })

test('a key revoked on one broker is refused by the others as soon as they are told', async () => {
  const target = await sharedDatabase()
  const here = await registryOn(await storeOn(target), 0)
  await here.upsert(jwk('k'))
  const there = await registryOn(await storeOn(target), 0)
  const gone = retired(there, 'k')
  expect(there.find('k')).toEqual(jwk('k'))
  await here.revoke('k')
  await gone
  expect(there.find('k')).toBeUndefined()
})

test('a key revoked while nothing is heard is refused after the next read', async () => {
  const target = await sharedDatabase()
  const here = await registryOn(await storeOn(target), 0)
  await here.upsert(jwk('k'))
  const deaf = await registryOn(await storeOn(target, false), 20)
  const gone = retired(deaf, 'k')
  await here.revoke('k')
  await gone
  expect(deaf.find('k')).toBeUndefined()
})

test('of brokers that register one kid at once all are told the same key', async () => {
  const target = await sharedDatabase()
  const stores = await Promise.all([storeOn(target), storeOn(target), storeOn(target)])
  const rows = await Promise.all(
    stores.map((store, at) => store.insertKey({ ...jwk(`k${at}`), kid: 'same' }, NOW + at)),
  )
  expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1)
})

test('a herd that is deleted while devices join keeps none of them', async () => {
  const target = await sharedDatabase()
  const [one, two] = [await storeOn(target), await storeOn(target)]
  await one.createHerd({ id: 'h', createdAtMs: NOW })
  const ids = Array.from({ length: 20 }, (_, at) => `d${at}`)
  const joins = ids.map((id) =>
    two.createDevice({ id, herdId: 'h', name: id, createdAtMs: NOW }, 'aa'),
  )
  const grants = ids.map((user) =>
    two.grant({ user, herdId: 'h', ability: 'realtime_streams.read' }),
  )
  await Promise.all([...joins, ...grants, one.deleteHerd('h')])
  expect(await one.devices()).toEqual([])
  for (const user of ids) expect((await one.userGrants(user)).read).toEqual([])
})

test('names that the database cannot hold find nothing, and are no fault', async () => {
  const store = await storeOn(await sharedDatabase())
  await store.setSuperadmin('\uFFFD', true)
  for (const name of ['\0', 'a\0b', '\uD800']) {
    expect(await store.userGrants(name)).toEqual({ superadmin: false, read: [], write: [] })
    expect(await store.deviceSecret(name)).toBeUndefined()
    expect(await store.revokeKey(name, NOW)).toBeUndefined()
  }
})
