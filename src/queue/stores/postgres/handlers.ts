import * as admin from './admin/index.ts'
import * as core from './core/index.ts'
import type { ReadHandlers, WriteHandlers } from './handler.ts'
import { jobStep } from './jobs/index.ts'
import { OPS_WRITES } from './ops/index.ts'
import { READS } from './reads/index.ts'
import * as streams from './streams/index.ts'

/** One handler per kind of write that has no lane. */
export const WRITE_HANDLERS: WriteHandlers = {
  ...core,
  ...admin,
  ...streams,
  ...OPS_WRITES,
  jobStep,
}

/** One handler per kind of read. */
export const READ_HANDLERS: ReadHandlers = READS
