export type {
  EngineCounters,
  PopReply,
  PopRequest,
  PushReply,
  QueueEngine,
  Rates,
  TransactionReply,
} from './api.ts'
export { PollLimitError } from './errors.ts'
