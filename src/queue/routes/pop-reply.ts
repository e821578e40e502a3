import type { PopReply } from '../engine/index.ts'
import { isoMicros } from '../model.ts'
import type { Claim, PoppedMessage } from '../store.ts'

/**
 * The text of a pop reply. Payloads are put in as the JSON text that was stored: they are neither parsed nor
 * written again, which is most of the work of a large batch.
 */
export function popReplyText({ leaseId, claims }: PopReply, group: string): string {
  const first = claims[0]
  const head = JSON.stringify({
    success: true,
    queue: first?.queue ?? '',
    partition: first?.partition ?? '',
    partitionId: first?.partitionId ?? '',
    leaseId,
    consumerGroup: group,
    partitionsClaimed: claims.length,
  })
  const messages = claims.flatMap((claim) => {
    const tail = tailOf(claim, leaseId, group)
    return claim.messages.map((message) => messageText(message, tail))
  })
  return `${head.slice(0, -1)},"messages":[${messages.join(',')}]}`
}

/** The members that all messages of one claim share, as the end of each message's text. */
function tailOf(claim: Claim, leaseId: string, group: string): string {
  const shared = JSON.stringify({
    partitionId: claim.partitionId,
    partition: claim.partition,
    leaseId,
    consumerGroup: group,
    queue: claim.queue,
    retryCount: claim.retryCount,
  })
  return shared.slice(1)
}

function messageText(message: PoppedMessage, tail: string): string {
  const { id, transactionId, traceId, payload, producerSub, createdAtUs } = message
  return (
    `{"id":${JSON.stringify(id)},"transactionId":${JSON.stringify(transactionId)},` +
    `"traceId":${JSON.stringify(traceId)},"data":${payload},` +
    `"producerSub":${JSON.stringify(producerSub)},"createdAt":"${isoMicros(createdAtUs)}",${tail}`
  )
}
