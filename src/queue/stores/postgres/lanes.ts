import { type PgHost, StoreFailedError } from '../../../storage/index.ts'
import type { WriteKind, WriteOp, WriteOutcome, Writes } from '../../store.ts'
import { sendAcks } from './ack-batch.ts'
import type { Answer, LaneKind, StoreContext } from './handler.ts'
import { sendPops } from './pop-batch.ts'
import { type Outgoing, planPush, sendPush } from './push-batch.ts'

type Batch<K extends WriteKind> = readonly Writes[K]['args'][]
type Send<K extends WriteKind> = (
  host: PgHost,
  batch: Batch<K>,
  context: StoreContext,
) => Promise<readonly Answer<Writes[K]['result']>[]>

/** Many pushes as one: each gets its part of the results, the first one the wakes and notes. */
const sendPushes: Send<'push'> = async (host, batch, context) => {
  const items = batch.flatMap((args) =>
    args.items.map((item): Outgoing => ({ item, producerSub: args.producerSub })),
  )
  const nowUs = Math.max(...batch.map((args) => args.nowUs))
  const { value, wakes, notes } = await sendPush(host, planPush(items, nowUs, context), true)
  let from = 0
  return batch.map((args, i) => {
    const own = value.slice(from, from + args.items.length)
    from += args.items.length
    return { value: own, wakes: i === 0 ? wakes : [], notes: i === 0 ? notes : [] }
  })
}

const LANES: { readonly [K in LaneKind]: Send<K> } = {
  push: sendPushes,
  pop: sendPops,
  ack: (host, batch) => sendAcks(host, batch),
}

export function isLaneKind(kind: WriteKind): kind is LaneKind {
  return Object.hasOwn(LANES, kind)
}

function failed(error: unknown): WriteOutcome {
  return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
}

/** Runs operations of one kind as one statement; when that fails for a fault of one of them, one by one. */
export async function runLane(
  host: PgHost,
  kind: LaneKind,
  ops: readonly WriteOp[],
  context: StoreContext,
): Promise<readonly WriteOutcome[]> {
  // The kind decides the arguments; all operations of a lane are of its kind.
  const send = LANES[kind] as (
    host: PgHost,
    batch: readonly unknown[],
    context: StoreContext,
  ) => Promise<readonly Answer<unknown>[]>
  try {
    const answers = await send(
      host,
      ops.map(({ args }) => args),
      context,
    )
    return answers.map((answer): WriteOutcome => ({ ok: true, ...answer }))
  } catch (error) {
    const oneIsToBlame = error instanceof StoreFailedError && ops.length > 1
    if (!oneIsToBlame) return ops.map(() => failed(error))
    const outcomes: WriteOutcome[] = []
    for (const op of ops) outcomes.push(...(await runLane(host, kind, [op], context)))
    return outcomes
  }
}
