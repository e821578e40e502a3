import type { PushResult, TransactionResult } from '../store.ts'

/**
 * Results of the pushes of one transaction. A duplicate of one of its own messages is answered as such; any
 * other makes the whole transaction fail. Queue API 6.4.
 */
export class PushedResults {
  readonly #own = new Set<string>()

  /** The result of the next push, or the text with which the transaction is refused. */
  next(queueName: string, pushed: PushResult): TransactionResult | string {
    const { status, transactionId, messageId, partitionId } = pushed
    if (status === 'queued') this.#own.add(messageId)
    else if (!this.#own.has(messageId)) return `duplicate transaction id: ${transactionId}`
    const duplicate = status === 'duplicate'
    return { type: 'push', transactionId, messageId, partitionId, queueName, duplicate }
  }
}
