export { SpillLog, type SpillLogOptions } from './log.ts'
