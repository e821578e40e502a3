export type {
  EngineCounters,
  PopReply,
  PopRequest,
  PushReply,
  QueueEngine,
  Rates,
  TransactionReply,
} from './api.ts'
export { createQueueEngine, type QueueEngineOptions } from './create.ts'
export { PollLimitError } from './errors.ts'
export type { EngineObserver } from './observer.ts'
