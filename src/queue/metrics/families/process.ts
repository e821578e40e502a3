import { bufferFigure, type Family, type Scrape, single } from './family.ts'

function plain(
  name: string,
  type: Family['type'],
  help: string,
  read: (scrape: Scrape) => number | undefined,
): Family {
  return { name, type, help, labels: [], read: (scrape) => single(read(scrape)) }
}

/** This process, its store and the push buffer: families without labels. Queue API page, section 12. */
export const PROCESS_FAMILIES: readonly Family[] = [
  plain('queen_uptime_seconds', 'gauge', 'Time since this process started.', (s) => s.uptimeS),
  plain(
    'queen_process_resident_memory_bytes',
    'gauge',
    'Memory of this process that is resident.',
    (s) => s.process.rssBytes,
  ),
  plain(
    'queen_process_virtual_memory_bytes',
    'gauge',
    'Address space of this process.',
    (s) => s.process.virtualBytes,
  ),
  plain(
    'queen_cpu_user_microseconds_total',
    'counter',
    'CPU time of this process in user mode.',
    (s) => s.process.cpuUserUs,
  ),
  plain(
    'queen_cpu_system_microseconds_total',
    'counter',
    'CPU time of this process in the kernel.',
    (s) => s.process.cpuSystemUs,
  ),
  plain(
    'queen_db_pool_size',
    'gauge',
    'Connections to the store.',
    (s) => s.broker.storeConnections,
  ),
  plain(
    'queen_db_pool_idle',
    'gauge',
    'Connections to the store without work.',
    (s) => s.broker.storeConnections - s.broker.storeActive,
  ),
  plain(
    'queen_db_pool_active',
    'gauge',
    'Connections to the store at work.',
    (s) => s.broker.storeActive,
  ),
  plain(
    'queen_file_buffer_pending',
    'gauge',
    'Pushes in the maintenance buffer, and in the outage spill of this process.',
    (s) => bufferFigure(s, 'pending'),
  ),
  plain(
    'queen_file_buffer_failed',
    'gauge',
    'Buffered or spilled pushes that could not be replayed.',
    (s) => bufferFigure(s, 'failed'),
  ),
  plain(
    'hivegate_spill_stuck',
    'gauge',
    'Whether the outage spill of this process cannot go on, other than for an outage: 1 or 0.',
    ({ spilled }) => (spilled === undefined ? undefined : Number(spilled.stuck)),
  ),
  plain('queen_file_buffer_db_healthy', 'gauge', 'Whether the store answers: 1 or 0.', (s) =>
    s.store === undefined ? 0 : 1,
  ),
  plain(
    'queen_maintenance_mode_enabled',
    'gauge',
    'Whether pushes are diverted into the buffer: 1 or 0.',
    (s) => (s.store === undefined ? undefined : Number(s.store.pushMaintenance)),
  ),
]
