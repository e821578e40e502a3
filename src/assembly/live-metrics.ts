import { Counter, Gauge, Registry } from 'prom-client'
import type { BrokerAuth, DecisionRecord } from '../http/index.ts'

function registerKeySet(
  registry: Registry,
  auth: Pick<BrokerAuth, 'keySet'>,
  clock: { now(): number },
): void {
  if (auth.keySet() === undefined) return
  const registers = [registry]
  new Gauge({
    name: 'hivegate_jwks_keys',
    help: 'Usable keys of the key set.',
    registers,
    collect() {
      this.set(auth.keySet()?.keys ?? 0)
    },
  })
  new Gauge({
    name: 'hivegate_jwks_age_seconds',
    help: 'Time since the key set was last fetched; -1 while it never was.',
    registers,
    collect() {
      const loadedAtMs = auth.keySet()?.loadedAtMs
      this.set(loadedAtMs === undefined ? -1 : (clock.now() - loadedAtMs) / 1000)
    },
  })
}

/** What is counted as it happens, in a registry of its own, so that two brokers in one process stay apart. */
export interface LiveMetrics {
  readonly registry: Registry
  /** Counts one decision of the gate. */
  readonly onDecision: (record: DecisionRecord) => void
  /** Shows the age and the size of the gate's key set, while it has one. */
  readonly watchKeySet: (auth: Pick<BrokerAuth, 'keySet'>) => void
}

/** Makes the registry of one broker. */
export function liveMetrics(clock: { now(): number }): LiveMetrics {
  const registry = new Registry()
  // Levels, outcomes and reasons are closed lists, so this map is as small as their product.
  const counts = new Map<string, { readonly record: DecisionRecord; count: number }>()
  new Counter({
    name: 'queen_auth_decisions_total',
    help: 'Decisions of the auth gate',
    labelNames: ['level', 'outcome', 'reason'],
    registers: [registry],
    // Counted here and handed over when somebody looks: the library sorts and joins the labels at each call.
    collect() {
      this.reset()
      for (const { record, count } of counts.values()) this.inc({ ...record }, count)
    },
  })
  return {
    registry,
    onDecision(record) {
      const key = `${record.level} ${record.outcome} ${record.reason}`
      const known = counts.get(key)
      if (known === undefined) counts.set(key, { record, count: 1 })
      else known.count += 1
    },
    watchKeySet: (auth) => registerKeySet(registry, auth, clock),
  }
}
