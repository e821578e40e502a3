import * as admin from './admin/index.ts'
import type { ReadHandlers, WriteHandlers } from './handler.ts'
import { jobStep } from './jobs/index.ts'
import * as streams from './streams/index.ts'

/** One handler per kind of write that has no lane. */
export const WRITE_HANDLERS: Partial<WriteHandlers> = { ...admin, ...streams, jobStep }

/** One handler per kind of read. */
export const READ_HANDLERS: Partial<ReadHandlers> = {}
