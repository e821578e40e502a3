export { openSpill, type SpillOptions } from './open.ts'
export { type OpenedSpill, OutageSpill } from './outage-spill.ts'
export type { SetAside } from './replayer.ts'
