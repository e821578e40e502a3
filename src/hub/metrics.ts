import { Counter, Gauge, Registry } from 'prom-client'

/** What the hub counts (protocol, section 21). Subscription events are no published updates. */
export interface HubMetrics {
  readonly connected: Gauge
  readonly subscribers: Counter
  readonly updates: Counter
  readonly failedUpdates: Counter
}

/** Adds the hub's families to a registry, or to one of its own when the app has none. */
export function hubMetrics(registry = new Registry()): HubMetrics {
  const registers = [registry]
  return {
    connected: new Gauge({
      name: 'mercure_subscribers_connected',
      help: 'Open subscriber connections',
      registers,
    }),
    subscribers: new Counter({
      name: 'mercure_subscribers_total',
      help: 'Subscriber connections ever accepted',
      registers,
    }),
    updates: new Counter({
      name: 'mercure_updates_total',
      help: 'Accepted publish requests, subscription events not counted',
      registers,
    }),
    failedUpdates: new Counter({
      name: 'mercure_updates_failed_total',
      help: 'Publish requests whose update could not be stored',
      registers,
    }),
  }
}
