import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openPostgresHost,
  StoreFailedError,
  StoreSchemaError,
  sqlState,
} from '../../../src/storage/index.ts'
import { createDatabase, openTestHost, type TestHost } from '../../support/postgres.ts'

const MODULE = {
  name: 'fruit',
  migrations: [
    { name: '001-fruit.sql', sql: 'CREATE TABLE hivegate.fruit (id bigint, name text UNIQUE)' },
  ],
}

let opened: TestHost
beforeAll(async () => {
  opened = await openTestHost([MODULE])
})
afterAll(() => opened.drop())

test('bigint, its arrays and sums are numbers', async () => {
  const sql = `SELECT 5::bigint AS one, '{1,NULL,3}'::bigint[] AS many, '{}'::bigint[] AS none, sum(x) AS total
               FROM (VALUES (7::bigint), (8)) AS v(x)`
  expect(await opened.host.rows('numbers', sql)).toEqual([
    { one: 5, many: [1, null, 3], none: [], total: 15 },
  ])
})

test('a throw in a transaction undoes it', async () => {
  const { host } = opened
  const work = host.transaction(async (tx) => {
    await tx.rows('add', 'INSERT INTO hivegate.fruit VALUES (1, $1)', ['pear'])
    throw new Error('changed my mind')
  })
  await expect(work).rejects.toThrow('changed my mind')
  expect(await host.rows('all', 'SELECT * FROM hivegate.fruit')).toEqual([])
})

test('a fault of a statement keeps its SQLSTATE, and the connection goes on', async () => {
  const { host } = opened
  const twice = 'INSERT INTO hivegate.fruit VALUES (1, $1), (2, $1)'
  const failure = await host.rows('twice', twice, ['fig']).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreFailedError)
  expect(sqlState(failure)).toBe('23505')
  await host.ping()
})

test('a transaction in which a failed statement was overlooked is no success', async () => {
  const work = opened.host.transaction((tx) => tx.script('SELECT 1/0').catch(() => undefined))
  await expect(work).rejects.toThrow(StoreFailedError)
})

test('transactions that lock each other out both come through', async () => {
  const { host } = opened
  await host.rows('two', `INSERT INTO hivegate.fruit VALUES (10, 'a'), (11, 'b')`)
  let holding = 0
  const both = Promise.withResolvers<void>()
  const swap = (first: number, second: number) =>
    host.transaction(async (tx) => {
      const add = `UPDATE hivegate.fruit SET name = name || '+' WHERE id = $1`
      await tx.rows('grow', add, [first])
      holding += 1
      if (holding === 2) both.resolve()
      await both.promise
      await tx.rows('grow', add, [second])
    })
  await Promise.all([swap(10, 11), swap(11, 10)])
  const sql = 'SELECT name FROM hivegate.fruit WHERE id >= 10 ORDER BY id'
  expect(await host.rows('grown', sql)).toEqual([{ name: 'a++' }, { name: 'b++' }])
})

test('a snapshot sees one state and refuses to write', async () => {
  const { host } = opened
  const count = 'SELECT count(*) AS n FROM hivegate.fruit'
  await host.snapshot(async (tx) => {
    const before = await tx.rows('n', count)
    await host.rows('more', `INSERT INTO hivegate.fruit VALUES (20, 'lime')`)
    expect(await tx.rows('n', count)).toEqual(before)
  })
  await expect(host.snapshot((tx) => tx.script('DELETE FROM hivegate.fruit'))).rejects.toThrow()
})

test('a notification is heard by other hosts', async () => {
  const other = await openPostgresHost({ target: opened.database.target, modules: [MODULE] })
  const heard = Promise.withResolvers<string>()
  const ready = Promise.withResolvers<void>()
  other.listen('hivegate_test', { heard: heard.resolve, restored: ready.resolve })
  await ready.promise
  await opened.host.notify('hivegate_test', 'ripe')
  expect(await heard.promise).toBe('ripe')
  await other.close()
})

test('brokers that start together bring the tables up to date once', async () => {
  const database = await createDatabase()
  const open = () => openPostgresHost({ target: database.target, modules: [MODULE] })
  const hosts = await Promise.all([open(), open(), open(), open()])
  expect(await database.query('SELECT module, number FROM hivegate.schema_migration')).toEqual([
    { module: 'fruit', number: 1 },
  ])
  await Promise.all(hosts.map((host) => host.close()))
  await database.drop()
})

test('a database of a newer version is refused, and left as it is', async () => {
  const { database } = opened
  await database.query(`INSERT INTO hivegate.schema_migration VALUES ('fruit', 2, '002-x.sql')`)
  const refused = openPostgresHost({ target: database.target, modules: [MODULE] })
  await expect(refused).rejects.toThrow(StoreSchemaError)
  await expect(refused).rejects.toThrow('schema 2 of "fruit", newer than this version knows')
  await database.query('DELETE FROM hivegate.schema_migration WHERE number = 2')
})

test('a migration that fails leaves nothing behind', async () => {
  const database = await createDatabase()
  const bad = { name: '002-bad.sql', sql: 'CREATE TABLE hivegate.veg (); SELECT 1/0' }
  const modules = [{ ...MODULE, migrations: [...MODULE.migrations, bad] }]
  const refused = openPostgresHost({ target: database.target, modules })
  await expect(refused).rejects.toThrow('migration fruit/002-bad.sql failed')
  const left = await database.query(`SELECT to_regclass('hivegate.fruit') AS there`)
  expect(left).toEqual([{ there: null }])
  await database.drop()
})
