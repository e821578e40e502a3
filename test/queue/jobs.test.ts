import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Config, loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/index.ts'
import type { QueueEngine } from '../../src/queue/index.ts'
import { startJobs } from '../../src/queue/jobs.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An engine of which only `runJob` is ever called; each run ends when the test says so, or at once. */
function watched(config: Config, hold = false) {
  const ran: string[] = []
  const waiting: (() => void)[] = []
  const lines: string[] = []
  const runJob: QueueEngine['runJob'] = async (job) => {
    ran.push(job)
    if (hold) await new Promise<void>((resolve) => waiting.push(resolve))
    if (job === 'purge') throw new Error('store is down')
    return 1
  }
  const log = createLog('info', { write: (line) => lines.push(line) })
  const jobs = startJobs({ runJob } as QueueEngine, config.queue, log)
  return { ran, lines, jobs, release: () => waiting.splice(0).map((go) => go()) }
}

const HOUR_MS = 3_600_000

describe('the background jobs', () => {
  it('run with every retention interval, eviction among them, and clean up once an hour', async () => {
    const { ran, jobs } = watched(loadConfig({ RETENTION_INTERVAL: '2000' }))
    await vi.advanceTimersByTimeAsync(1999)
    expect(ran).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(ran).toEqual(['retention', 'completedRetention', 'eviction', 'purge'])
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    expect(ran.filter((job) => job === 'partitionCleanup')).toHaveLength(1)
    await jobs.stop()
  })

  it('give eviction an interval of its own when there is one', async () => {
    const settings = { RETENTION_INTERVAL: '2000', EVICTION_INTERVAL: '3000' }
    const { ran, jobs } = watched(loadConfig(settings))
    await vi.advanceTimersByTimeAsync(6000)
    expect(ran.filter((job) => job === 'eviction')).toHaveLength(2)
    expect(ran.filter((job) => job === 'retention')).toHaveLength(3)
    await jobs.stop()
  })

  it('go on after a failure, which is logged', async () => {
    const { ran, lines, jobs } = watched(loadConfig({ RETENTION_INTERVAL: '2000' }))
    await vi.advanceTimersByTimeAsync(4000)
    expect(ran.filter((job) => job === 'retention')).toHaveLength(2)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('store is down')
    await jobs.stop()
  })

  it('never run twice at once, and start no more after stop', async () => {
    const { ran, jobs, release } = watched(loadConfig({ RETENTION_INTERVAL: '2000' }), true)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ran).toEqual(['retention'])
    const stopped = jobs.stop()
    release()
    await stopped
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ran).toEqual(['retention'])
  })
})
