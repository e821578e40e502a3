import { Counter, Gauge, Registry } from 'prom-client'
import { CLUSTER_FAMILIES } from './families/cluster.ts'
import { DEPTH_FAMILIES } from './families/depth.ts'
import type { Family, Line, Scrape } from './families/family.ts'
import { PROCESS_FAMILIES } from './families/process.ts'
import { QUEUE_FAMILIES } from './families/queue.ts'
import { WORKER_FAMILIES } from './families/worker.ts'

/** Every family that is gathered at the moment of a scrape. */
export const FAMILIES: readonly Family[] = [
  ...PROCESS_FAMILIES,
  ...CLUSTER_FAMILIES,
  ...QUEUE_FAMILIES,
  ...WORKER_FAMILIES,
  ...DEPTH_FAMILIES,
]

function register(registry: Registry, family: Family, lines: readonly Line[]): void {
  const { name, help, type } = family
  const settings = { name, help, labelNames: [...family.labels], registers: [registry] }
  if (type === 'gauge') {
    const gauge = new Gauge(settings)
    for (const [labels, value] of lines) gauge.set({ ...labels }, value)
  } else {
    const counter = new Counter(settings)
    for (const [labels, value] of lines) counter.inc({ ...labels }, value)
  }
}

/**
 * The answer of GET /metrics/prometheus, text format 0.0.4. The families of the scrape are made anew each
 * time, so that one whose source is down is absent and not stale; `live` hold what is counted as it happens.
 */
export async function prometheusText(scrape: Scrape, live: readonly Registry[]): Promise<string> {
  const registry = new Registry()
  for (const family of FAMILIES) {
    const lines = family.read(scrape)
    if (lines !== undefined) register(registry, family, lines)
  }
  return Registry.merge([registry, ...live]).metrics()
}
