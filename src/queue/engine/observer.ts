import type {
  AckItem,
  AckResult,
  CycleArgs,
  CycleOutcome,
  PushItem,
  StoreNote,
  TransactionOp,
} from '../store.ts'
import type { PopReply, PopRequest, PushReply, TransactionReply } from './api.ts'

/** Told of everything the engine has done; for figures per queue. Must not throw. */
export interface EngineObserver {
  pushed(items: readonly PushItem[], replies: readonly PushReply[]): void
  popped(request: PopRequest, reply: PopReply | null): void
  acked(items: readonly AckItem[], results: readonly AckResult[]): void
  transacted(operations: readonly TransactionOp[], reply: TransactionReply): void
  cycled(args: Omit<CycleArgs, 'nowUs'>, outcome: CycleOutcome): void
  /** What only the store sees. */
  noted(notes: readonly StoreNote[]): void
  /** A request that the store could not serve. */
  storeFailed(): void
}

/** Watches nothing. */
export const NO_OBSERVER: EngineObserver = {
  pushed() {},
  popped() {},
  acked() {},
  transacted() {},
  cycled() {},
  noted() {},
  storeFailed() {},
}
