import type { ReadHandlers, WriteHandlers } from './handler.ts'

/** One handler per kind of write that has no lane. */
export const WRITE_HANDLERS: Partial<WriteHandlers> = {}

/** One handler per kind of read. */
export const READ_HANDLERS: Partial<ReadHandlers> = {}
