import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import type { Answer } from '../handler.ts'

export type JobArgs = Writes['jobStep']['args']
export type JobResult = Writes['jobStep']['result']

/** One small step of one job. */
export type JobStep = (tx: Tx, args: JobArgs) => Promise<Answer<JobResult>>
