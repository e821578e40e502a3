import type { JobName } from '../../../store.ts'
import { quiet, type WriteHandler } from '../handler.ts'
import { cleanUp } from './cleanup.ts'
import { expire } from './expiry.ts'
import { purge } from './purge.ts'
import type { JobStep } from './step.ts'
import { endRound, isOurTurn } from './turn.ts'

const STEPS: Readonly<Record<JobName, JobStep>> = {
  retention: expire('retention'),
  completedRetention: expire('completedRetention'),
  eviction: expire('eviction'),
  partitionCleanup: cleanUp,
  purge,
}

/** One small step of a background job, if it is this process's turn. Queue API 16. */
export const jobStep: WriteHandler<'jobStep'> = async (tx, args) => {
  if (!(await isOurTurn(tx, args))) return quiet({ deleted: 0, next: null })
  const answer = await STEPS[args.job](tx, args)
  if (answer.value.next === null) await endRound(tx, args)
  return answer
}
