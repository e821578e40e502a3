import type { Statements } from '../../../storage/index.ts'
import { freshId } from '../../message-id.ts'
import { QUEUE_MODE, type Subscription } from '../../model.ts'
import type { Claim, PopArgs, PoppedMessage, PopResult, Wake } from '../../store.ts'
import type { Answer, StoreContext } from './handler.ts'
import { wakeOf } from './push-batch.ts'

/** A row of `hivegate.pop_batch`: a message, or the news that a request got none (`message_id` null). */
interface PopRow {
  readonly request: number
  readonly message_id: string | null
  readonly transaction_id: string
  readonly trace_id: string | null
  readonly producer_sub: string | null
  readonly created_at: number
  readonly encrypted: boolean
  readonly payload: string
  /** The claim, told with its first message. */
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly partition: string
  readonly partition_uuid: string | null
  readonly after: number
  readonly last: number
  readonly retry_count: number
  readonly look_at: number | null
  readonly unfinished: boolean
}

const SECOND_US = 1_000_000

/** A queue, a partition of it, or labels: what pops of one group draw from together. */
interface Scope {
  readonly args: PopArgs
  readonly index: number
}

function startOf(group: string, wanted: Subscription) {
  // Consumers without a group always see everything. Queue API 7.1.
  if (group === QUEUE_MODE) return { mode: 'all', fromUs: null }
  return { mode: wanted.mode, fromUs: wanted.mode === 'timestamp' ? wanted.fromUs : null }
}

/** Distinct scopes of a batch, with the index of each request's scope; from 1 as in SQL. */
function scopesOf(batch: readonly PopArgs[]) {
  const known = new Map<string, Scope>()
  const indexes = batch.map((args) => {
    const key = JSON.stringify([args.scope, args.group])
    const scope = known.get(key) ?? { args, index: known.size + 1 }
    known.set(key, scope)
    return scope.index
  })
  return { scopes: [...known.values()].map(({ args }) => args), indexes }
}

function popValues(batch: readonly PopArgs[], leaseIds: readonly string[]): readonly unknown[] {
  const { scopes, indexes } = scopesOf(batch)
  const starts = scopes.map(({ group, subscription }) => startOf(group, subscription))
  const labels = scopes.map(({ scope }) =>
    'queue' in scope ? { namespace: null, task: null } : scope,
  )
  return [
    Math.max(...batch.map(({ nowUs }) => nowUs)),
    scopes.map(({ scope }) => ('queue' in scope ? scope.queue : null)),
    scopes.map(({ scope }) => ('queue' in scope ? scope.partition : null)),
    labels.map(({ namespace }) => namespace),
    labels.map(({ task }) => task),
    scopes.map(({ group }) => group),
    starts.map(({ mode }) => mode),
    starts.map(({ fromUs }) => fromUs),
    indexes,
    batch.map((args) => args.batch),
    batch.map(({ partitions }) => partitions),
    leaseIds,
    batch.map(({ leaseSeconds }) => {
      return leaseSeconds !== null && leaseSeconds > 0 ? leaseSeconds * SECOND_US : null
    }),
  ]
}

interface OpenClaim extends Omit<Claim, 'messages'> {
  readonly messages: PoppedMessage[]
}

/** The answer to one request while its rows come in. */
interface Draft {
  readonly leaseId: string
  readonly claims: OpenClaim[]
  readonly wakes: Map<string, Wake>
  nextUs: number | null
  unfinished: boolean
}

function messageOf(row: PopRow, id: string, { cipher }: StoreContext): PoppedMessage {
  return {
    id,
    transactionId: row.transaction_id,
    traceId: row.trace_id,
    payload: row.encrypted ? cipher.open(row.payload) : row.payload,
    producerSub: row.producer_sub,
    createdAtUs: row.created_at,
  }
}

function openClaim(draft: Draft, row: PopRow, partitionId: string): void {
  const { queue, partition, after, last: upTo, retry_count: retryCount } = row
  draft.claims.push({ queue, partition, partitionId, retryCount, after, upTo, messages: [] })
  if (row.look_at === null) return
  const wake = wakeOf({ ...row, at: row.look_at === 0 ? null : row.look_at })
  draft.wakes.set(`${queue}\0${wake.atMs}`, wake)
}

function take(draft: Draft, row: PopRow, context: StoreContext): void {
  if (row.message_id === null) {
    draft.nextUs = row.look_at
    draft.unfinished = row.unfinished
    return
  }
  if (row.partition_uuid !== null) openClaim(draft, row, row.partition_uuid)
  draft.claims.at(-1)?.messages.push(messageOf(row, row.message_id, context))
}

function answerOf({ leaseId, claims, wakes, nextUs, unfinished }: Draft): Answer<PopResult> {
  const empty = claims.length === 0
  const value: PopResult = {
    claims,
    leaseId: empty ? '' : leaseId,
    nextReadyAtMs: empty && nextUs !== null ? Math.ceil(nextUs / 1000) : null,
    unfinished: empty && unfinished,
  }
  return { value, wakes: [...wakes.values()], notes: [] }
}

const SQL = `SELECT * FROM hivegate.pop_batch(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

/** Serves a batch of pops in one statement; answers in their order. Queue API 5.4. */
export async function sendPops(
  db: Statements,
  batch: readonly PopArgs[],
  context: StoreContext,
): Promise<readonly Answer<PopResult>[]> {
  const leaseIds = batch.map(({ autoAck, nowUs }) =>
    autoAck ? '' : freshId(Math.floor(nowUs / 1000)),
  )
  const drafts = leaseIds.map((leaseId): Draft => {
    return { leaseId, claims: [], wakes: new Map(), nextUs: null, unfinished: false }
  })
  for (const row of await db.rows<PopRow>('pop_batch', SQL, popValues(batch, leaseIds))) {
    const draft = drafts[row.request - 1]
    if (draft !== undefined) take(draft, row, context)
  }
  return drafts.map(answerOf)
}
