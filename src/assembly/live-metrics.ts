import { Counter, Gauge, Registry } from 'prom-client'
import type { DecisionRecord } from '../http/index.ts'
import type { EngineCounters, QueueEngine } from '../queue/index.ts'

/** Counters of the queue that the engine keeps; each row is one family with its one label. */
const CLUSTER_COUNTERS: readonly (readonly [
  name: string,
  help: string,
  read: (done: EngineCounters) => number,
])[] = [
  ['queen_cluster_push_requests_total', 'Push requests', (done) => done.pushRequests],
  ['queen_cluster_pop_requests_total', 'Pop requests', (done) => done.popRequests],
  ['queen_cluster_ack_requests_total', 'Ack requests', (done) => done.ackRequests],
  ['queen_cluster_transactions_total', 'Committed transactions', (done) => done.transactions],
  ['queen_cluster_push_messages_total', 'Messages stored', (done) => done.pushMessages],
  ['queen_cluster_pop_messages_total', 'Messages delivered', (done) => done.popMessages],
  [
    'queen_cluster_ack_messages_total',
    'Messages acknowledged',
    (done) => done.ackSuccess + done.ackFailed,
  ],
  ['queen_cluster_db_errors_total', 'Faults of the store', (done) => done.storeErrors],
  [
    'queen_cluster_dlq_total',
    'Messages moved to the dead-letter queue',
    (done) => done.deadLettered,
  ],
]

const SCOPE = { scope: 'cluster' } as const

function registerEngine(registry: Registry, engine: QueueEngine): void {
  for (const [name, help, read] of CLUSTER_COUNTERS) {
    new Counter({
      name,
      help,
      labelNames: ['scope'],
      registers: [registry],
      collect() {
        this.reset()
        this.inc(SCOPE, read(engine.counters()))
      },
    })
  }
  const gauge = (name: string, help: string, read: () => number) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  gauge('queen_uptime_seconds', 'Time since this process began', () => process.uptime())
  gauge('queen_parked_pops', 'Pops that wait now', () => engine.counters().parked)
}

/** What is counted as it happens, in a registry of its own, so that two brokers in one process stay apart. */
export interface LiveMetrics {
  readonly registry: Registry
  /** Counts one decision of the gate. */
  readonly onDecision: (record: DecisionRecord) => void
}

/** Makes the registry of one broker. */
export function liveMetrics(engine: QueueEngine): LiveMetrics {
  const registry = new Registry()
  registerEngine(registry, engine)
  const decisions = new Counter({
    name: 'queen_auth_decisions_total',
    help: 'Decisions of the auth gate',
    labelNames: ['level', 'outcome', 'reason'],
    registers: [registry],
  })
  // Levels, outcomes and reasons are closed lists, so this map is as small as their product.
  const children = new Map<string, { inc(): void }>()
  return {
    registry,
    onDecision({ level, outcome, reason }) {
      const key = `${level} ${outcome} ${reason}`
      let child = children.get(key)
      if (child === undefined) {
        child = decisions.labels(level, outcome, reason)
        children.set(key, child)
      }
      child.inc()
    },
  }
}
