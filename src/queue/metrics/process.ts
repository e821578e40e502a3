import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sample } from './columns.ts'

/** The histogram also counts its own tick, which is no lag. */
const RESOLUTION_MS = 10
const NS_PER_MS = 1e6
/** Linux counts the pages of a process in this file; elsewhere the figure is zero. */
const PAGES_FILE = '/proc/self/statm'
const PAGE_BYTES = 4096

/** What the broker adds to a sample of its process: the store's connections, its queue and waiting pops. */
export interface BrokerGauges {
  readonly storeConnections: number
  readonly storeActive: number
  /** Writes that wait for the next commit. */
  readonly pendingWrites: number
  /** Writes that would still be taken before pushes are refused. */
  readonly freeSlots: number
  readonly parkedPops: number
}

/** The address space of this process in bytes; zero where the system does not tell. */
export function virtualBytes(): number {
  try {
    return Number(readFileSync(PAGES_FILE, 'utf8').split(' ')[0]) * PAGE_BYTES
  } catch {
    return 0
  }
}

function lagMs(ns: number): number {
  return Number.isFinite(ns) ? Math.max(0, ns / NS_PER_MS - RESOLUTION_MS) : 0
}

/** Reads the load of this process. CPU time and event-loop lag count from one sample to the next. */
export class ProcessGauges {
  readonly #loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #cpu = process.cpuUsage()

  constructor() {
    this.#loop.enable()
  }

  /** One sample; its times cover what passed since the one before. */
  sample(broker: BrokerGauges): Sample {
    const cpu = process.cpuUsage(this.#cpu)
    this.#cpu = process.cpuUsage()
    const memory = process.memoryUsage()
    const eventLoopLagMs = lagMs(this.#loop.mean)
    const eventLoopLagMaxMs = this.#loop.count === 0 ? 0 : lagMs(this.#loop.max)
    this.#loop.reset()
    return {
      cpuUserUs: cpu.user,
      cpuSystemUs: cpu.system,
      rssBytes: memory.rss,
      virtualBytes: virtualBytes(),
      heapUsedBytes: memory.heapUsed,
      eventLoopLagMs,
      eventLoopLagMaxMs,
      storeIdle: Math.max(0, broker.storeConnections - broker.storeActive),
      ...broker,
    }
  }

  /** Ends the measuring of the event loop. */
  close(): void {
    this.#loop.disable()
  }
}
