import type { Operation } from '../../http/operation.ts'
import * as ack from './ack.ts'
import * as analytics from './analytics.ts'
import * as configure from './configure.ts'
import * as dlq from './dlq.ts'
import * as groups from './groups.ts'
import * as health from './health.ts'
import * as identity from './identity.ts'
import * as lease from './lease.ts'
import * as messages from './messages.ts'
import * as pop from './pop.ts'
import * as push from './push.ts'
import * as resources from './resources.ts'
import * as status from './status.ts'
import * as streams from './streams.ts'
import * as system from './system.ts'
import * as traces from './traces.ts'
import * as transaction from './transaction.ts'
import * as upkeep from './upkeep.ts'

const FILES: readonly Readonly<Record<string, unknown>>[] = [
  ack,
  analytics,
  configure,
  dlq,
  groups,
  health,
  identity,
  lease,
  messages,
  pop,
  push,
  resources,
  status,
  streams,
  system,
  traces,
  transaction,
  upkeep,
]

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'answers' in value && 'path' in value
}

/** The description of every route of the queue, for the API document. */
export const QUEUE_OPERATIONS: readonly Operation[] = FILES.flatMap((file) =>
  Object.values(file).filter(isOperation),
)
