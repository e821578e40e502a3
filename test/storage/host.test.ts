import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  openInlineHost,
  openSqliteHost,
  type SqliteHost,
  StoreClosedError,
  StoreFailedError,
  StoreLockedError,
  StoreSchemaError,
} from '../../src/storage/index.ts'

const LEDGER = { url: new URL('./ledger/module.ts', import.meta.url).href }

let dataDir = ''
let opened: SqliteHost[] = []

async function open(): Promise<SqliteHost> {
  const host = await openSqliteHost({ dataDir, modules: [LEDGER] })
  opened.push(host)
  return host
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hivegate-storage-'))
})

afterEach(async () => {
  await Promise.all(opened.map((host) => host.close()))
  opened = []
  rmSync(dataDir, { recursive: true, force: true })
})

describe('the embedded store', () => {
  test('a read sees every commit that was answered', async () => {
    const host = await open()
    await host.commit('ledger', [
      { name: 'a', amount: 1 },
      { name: 'b', amount: 2 },
    ])
    expect(await host.read('ledger', null)).toBe(3)
  })

  test('what was committed is there after the store is closed and opened again', async () => {
    const host = await open()
    await host.commit('ledger', [{ name: 'a', amount: 5 }])
    await host.close()
    expect(await (await open()).read('ledger', null)).toBe(5)
  })

  test('of a batch with one faulty operation only that one fails', async () => {
    const host = await open()
    const outcomes = await host.commit('ledger', [
      { name: 'a', amount: 1 },
      { name: 'bad', amount: -1 },
      { name: 'a', amount: 1 },
    ])
    expect(outcomes).toMatchObject([
      { ok: true, value: { amount: 1 } },
      { ok: false, error: expect.any(StoreFailedError) },
      { ok: true, value: { amount: 2 } },
    ])
    expect(await host.read('ledger', null)).toBe(2)
  })

  test('a module is told of a rollback, so that it forgets what it counted', async () => {
    const host = await open()
    const outcomes = await host.commit('ledger', [
      { name: 'a', amount: 1 },
      { name: 'bad', amount: 0 },
    ])
    expect(outcomes[0]).toMatchObject({ ok: true, value: { writes: 1 } })
  })

  test('ping answers while open, everything is refused after close', async () => {
    const host = await open()
    await host.ping()
    await host.close()
    await expect(host.ping()).rejects.toBeInstanceOf(StoreClosedError)
    await expect(host.commit('ledger', [])).rejects.toBeInstanceOf(StoreClosedError)
    await expect(host.read('ledger', null)).rejects.toBeInstanceOf(StoreClosedError)
  })

  test('an unknown module is an error of that request alone', async () => {
    const host = await open()
    await expect(host.read('nobody', null)).rejects.toBeInstanceOf(StoreFailedError)
    await host.ping()
  })

  test('it runs without threads on an in-memory database', async () => {
    const host = await openInlineHost([LEDGER])
    await host.commit('ledger', [{ name: 'a', amount: 4 }])
    expect(await host.read('ledger', null)).toBe(4)
    await host.close()
    await expect(host.ping()).rejects.toBeInstanceOf(StoreClosedError)
  })
})

describe('the lock on the data folder', () => {
  test('a second store on the same folder is refused by name', async () => {
    await open()
    const second = openSqliteHost({ dataDir, modules: [LEDGER] })
    await expect(second).rejects.toBeInstanceOf(StoreLockedError)
    await expect(second).rejects.toThrow(dataDir)
  })

  test('another process is refused, and after kill -9 the folder is free at once', async () => {
    const file = new URL('./ledger/hold.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [file, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await expect(openSqliteHost({ dataDir, modules: [LEDGER] })).rejects.toThrow('in use')
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(await (await open()).read('ledger', null)).toBe(7)
  })
})

describe('the schema', () => {
  test('a file written by a newer version is refused', async () => {
    await (await open()).close()
    const db = new DatabaseSync(join(dataDir, 'hivegate.db'))
    db.exec(`INSERT INTO schema_migration VALUES ('ledger', 2, '002-later.sql')`)
    db.close()
    await expect(open()).rejects.toBeInstanceOf(StoreSchemaError)
    await expect(open()).rejects.toThrow('newer')
  })
})
