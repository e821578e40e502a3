import { describe, expect, it } from 'vitest'
import type { Scrape, StoreFigures } from '../../../src/queue/metrics/families/family.ts'
import { FAMILIES, prometheusText } from '../../../src/queue/metrics/prometheus.ts'
import { noFigures } from '../../../src/queue/metrics/tally.ts'

const STORE: StoreFigures = {
  totals: { ...noFigures(), pushMessages: 12, ackSuccess: 3, ackFailed: 1 },
  depths: [
    { queue: 'a', messages: 4, oldestAgeS: 2 },
    { queue: 'a', group: 'g', messages: 5, oldestAgeS: 3 },
  ],
  stored: [['a', 9]],
  deadLetters: [
    ['a', 2],
    ['b', 1],
  ],
  buffer: { pending: 7, failed: 0 },
  pushMaintenance: true,
}

const SCRAPE: Scrape = {
  nowMs: 120_000,
  identity: { hostname: 'host', workerId: 'w1', port: 1 },
  uptimeS: 5,
  maxQueues: 3,
  process: {
    rssBytes: 1,
    virtualBytes: 2,
    cpuUserUs: 3,
    cpuSystemUs: 4,
    eventLoopLagMs: 5,
    eventLoopLagMaxMs: 6,
  },
  broker: { storeConnections: 2, storeActive: 1, pendingWrites: 0, freeSlots: 10 },
  parked: new Map([['a', 2]]),
  lifetime: new Map([['a', { ...noFigures(), pushMessages: 12 }]]),
  finished: {
    endedMs: 60_000,
    queues: new Map([['a', { ...noFigures(), popMessages: 30, lagSumMs: 60, lagCount: 30 }]]),
    sampled: undefined,
  },
  intervalMs: 30_000,
  store: STORE,
  spilled: undefined,
}

const NAMED_BY_THE_PAGE = `queen_uptime_seconds queen_process_resident_memory_bytes
queen_process_virtual_memory_bytes queen_cpu_user_microseconds_total queen_cpu_system_microseconds_total
queen_db_pool_size queen_db_pool_idle queen_db_pool_active queen_file_buffer_pending
queen_file_buffer_failed queen_file_buffer_db_healthy queen_maintenance_mode_enabled
queen_cluster_push_requests_total queen_cluster_pop_requests_total queen_cluster_ack_requests_total
queen_cluster_transactions_total queen_cluster_push_messages_total queen_cluster_pop_messages_total
queen_cluster_ack_messages_total queen_cluster_ack_total queen_cluster_db_errors_total
queen_cluster_dlq_total queen_queue_push_requests_per_minute queen_queue_push_messages_per_minute
queen_queue_pop_messages_per_minute queen_queue_pop_empty_per_minute
queen_queue_transactions_per_minute queen_queue_ack_per_minute queen_queue_pop_lag_milliseconds
queen_queue_parked_consumers queen_queue_metrics_age_seconds
queen_worker_event_loop_lag_milliseconds queen_worker_free_slots queen_worker_db_connections
queen_worker_job_queue_size queen_worker_backoff_size queen_worker_jobs_done_per_minute
queen_worker_requests_per_minute queen_worker_messages_per_minute queen_worker_ack_per_minute
queen_worker_lag_milliseconds queen_worker_db_errors_per_minute queen_worker_dlq_per_minute
queen_worker_metrics_age_seconds queen_dlq_depth queen_dlq_depth_by_queue`.split(/\s+/)

function textOf(changes: Partial<Scrape> = {}): Promise<string> {
  return prometheusText({ ...SCRAPE, ...changes }, [])
}

describe('the text of a scrape', () => {
  it('holds every family that section 12 names, once, with HELP and TYPE', async () => {
    const lines = (await textOf()).split('\n')
    for (const name of NAMED_BY_THE_PAGE) {
      expect(lines.filter((line) => line.startsWith(`# HELP ${name} `))).toHaveLength(1)
      expect(lines.filter((line) => line.startsWith(`# TYPE ${name} `))).toHaveLength(1)
      expect(lines.filter((line) => line.startsWith(name))).not.toHaveLength(0)
    }
  })

  it('names no family twice', () => {
    expect(new Set(FAMILIES.map((family) => family.name)).size).toBe(FAMILIES.length)
  })

  it.each([
    'queen_cluster_push_messages_total{scope="cluster"} 12',
    'queen_cluster_ack_total{scope="cluster",result="failed"} 1',
    'queen_dlq_depth{scope="cluster"} 3',
    'queen_dlq_depth_by_queue{queue="b"} 1',
    'queen_queue_pop_messages_per_minute{queue="a"} 60',
    'queen_queue_pop_lag_milliseconds{queue="a",stat="avg"} 2',
    'queen_queue_metrics_age_seconds{queue="a"} 60',
    'queen_worker_messages_per_minute{host="host",worker="w1",op="pop"} 60',
    'queen_file_buffer_pending 7',
    'queen_maintenance_mode_enabled 1',
    'hivegate_queue_depth{queue="a"} 4',
    'hivegate_group_depth{queue="a",group="g"} 5',
    'hivegate_queue_push_messages_total{queue="a"} 12',
  ])('shows %s', async (line) => {
    expect((await textOf()).split('\n')).toContain(line)
  })

  it('leaves out what only the store knows while it is down', async () => {
    const text = await textOf({ store: undefined })
    expect(text).not.toMatch(
      /queen_cluster_|queen_dlq_|hivegate_group_depth|queen_file_buffer_pending/,
    )
    expect(text).toContain('queen_file_buffer_db_healthy 0')
    expect(text).toContain('queen_uptime_seconds 5')
  })

  it('shows the pushes that wait in files, with the buffer and while the store is down', async () => {
    const spilled = { pending: 5, failed: 1, stuck: true }
    expect(await textOf({ spilled })).toMatch(/^queen_file_buffer_pending 12$/m)
    const down = await textOf({ store: undefined, spilled })
    expect(down).toMatch(/^queen_file_buffer_pending 5$/m)
    expect(down).toMatch(/^queen_file_buffer_failed 1$/m)
    expect(down).toMatch(/^hivegate_spill_stuck 1$/m)
  })

  it('sums up the queues beyond the bound', async () => {
    const deadLetters = ['e', 'd', 'c', 'b', 'a'].map((name, at) => [name, at + 1] as const)
    const text = await textOf({ store: { ...STORE, deadLetters } })
    expect(text.match(/^queen_dlq_depth_by_queue.*$/gm)).toEqual([
      'queen_dlq_depth_by_queue{queue="a"} 5',
      'queen_dlq_depth_by_queue{queue="b"} 4',
      'queen_dlq_depth_by_queue{queue="c"} 3',
      'queen_dlq_depth_by_queue{queue="__other__"} 3',
    ])
  })

  it('escapes backslash, double quote and newline in label values', async () => {
    const text = await textOf({ parked: new Map([['a\\b"c\nd', 1]]) })
    expect(text).toContain('queen_queue_parked_consumers{queue="a\\\\b\\"c\\nd"} 1')
  })
})
