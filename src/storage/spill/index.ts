export { SpillLog, type SpillLogOptions } from './log.ts'
export type { SpillEntry } from './segment.ts'
