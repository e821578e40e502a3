import type { OpsWrites } from '../../../store.ts'
import type { WriteHandlers } from '../handler.ts'
import { drainBuffer, skipBuffered } from './buffer.ts'
import { deleteMessage } from './delete-message.ts'
import { recordMetrics } from './history.ts'
import { pruneHistory } from './prune.ts'
import { addTrace } from './traces.ts'

/** The operator's writes by their kind. */
export const OPS_WRITES: Pick<WriteHandlers, keyof OpsWrites> = {
  addTrace,
  deleteMessage,
  drainBuffer,
  skipBuffered,
  recordMetrics,
  pruneHistory,
}
