import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/config/index.ts'
import { createQueueEngine } from '../../../src/queue/engine/create.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../../src/queue/stores/sqlite/index.ts'
import { openInlineHost } from '../../../src/storage/index.ts'
import { item, openTestStore } from '../../support/queue-store.ts'

afterEach(() => void vi.useRealTimers())

const DAY_US = 86_400_000_000

describe('background jobs on the embedded store', () => {
  it('take away what was cleared also when its partition has gone first', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hivegate-upkeep-'))
    const file = join(dataDir, 'queue.db')
    const host = await openInlineHost([sqliteQueueModule({ encryptionKey: '' })], file)
    const store = sqliteQueueStore(host)
    const nowUs = Date.now() * 1000
    const step = { after: null, limit: 100, nowUs: nowUs + 40 * DAY_US }
    const job = { ...step, idleUs: 30 * DAY_US }
    await store.commit([
      { kind: 'push', args: { items: [item('q', 1)], producerSub: null, nowUs } },
      { kind: 'clearQueue', args: { ...step, queue: 'q', partition: null } },
      { kind: 'jobStep', args: { ...job, job: 'partitionCleanup' } },
      { kind: 'jobStep', args: { ...job, job: 'purge' } },
      { kind: 'jobStep', args: { ...job, job: 'purge' } },
    ])
    await host.close()
    const db = new DatabaseSync(file, { readOnly: true })
    expect(db.prepare('SELECT count(*) AS n FROM message').get()).toEqual({ n: 0 })
    db.close()
    rmSync(dataDir, { recursive: true })
  })

  it('are started by the process, not by the engine too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
    const { store, close } = await openTestStore()
    const { queue, operations } = loadConfig({ RETENTION_INTERVAL: '1000' })
    const engine = await createQueueEngine({ store, config: { ...queue, ...operations } })
    expect(vi.getTimerCount()).toBe(0)
    await engine.drain()
    await close()
  })
})
