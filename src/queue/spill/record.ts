import { z } from 'zod'
import type { PayloadCipher } from '../cipher.ts'
import type { WaitingPush } from '../store.ts'

/** The items of one push request, as they wait outside of the store. */
export interface SpilledPush {
  /** When the request came, in µs since 1970. */
  readonly atUs: number
  readonly messages: readonly WaitingPush[]
}

const record = z.strictObject({
  atUs: z.number().int(),
  messages: z.array(
    z.strictObject({
      id: z.string(),
      producerSub: z.string().nullable(),
      item: z.strictObject({
        queue: z.string(),
        partition: z.string(),
        payload: z.string(),
        transactionId: z.string(),
        traceId: z.string().nullable(),
        namespace: z.string().nullable(),
        task: z.string().nullable(),
      }),
    }),
  ),
})

/** A push as one record; sealed as a whole where there is a key, because the queue's option is not known now. */
export function encodePush(push: SpilledPush, cipher: PayloadCipher): Buffer {
  return Buffer.from(cipher.seal(JSON.stringify(push)))
}

/** Reads a record; null when it cannot be, such as after a change of the key. */
export function decodePush(body: Buffer, cipher: PayloadCipher): SpilledPush | null {
  try {
    return record.parse(JSON.parse(cipher.open(body.toString())))
  } catch {
    return null
  }
}
