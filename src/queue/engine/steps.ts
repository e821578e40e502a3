import type { JobName, Writes } from '../store.ts'
import type { Writer } from './writer.ts'

/** Partitions of one step of a seek or a clear: other writes go in between. */
const PARTITIONS_PER_STEP = 500

type Rest<K extends 'clearQueue' | 'seek'> = Omit<Writes[K]['args'], 'after' | 'limit' | 'nowUs'>

/** Work on many partitions, done as a row of small writes. */
export class Stepper {
  readonly #writer: Writer
  readonly #nowUs: () => number

  constructor(writer: Writer, nowUs: () => number) {
    this.#writer = writer
    this.#nowUs = nowUs
  }

  /** null: no such queue or partition. */
  async clear(args: Rest<'clearQueue'>): Promise<{ readonly deleted: number } | null> {
    let after: number | null = null
    let deleted = 0
    do {
      const step: Writes['clearQueue']['result'] = await this.#writer.write('clearQueue', {
        ...args,
        after,
        limit: PARTITIONS_PER_STEP,
        nowUs: this.#nowUs(),
      })
      // A queue that goes while it is cleared leaves nothing to clear.
      if (!step.found && after === null) return null
      deleted += step.deleted
      after = step.next
    } while (after !== null)
    return { deleted }
  }

  /** null: no such queue or partition. */
  async seek(
    args: Rest<'seek'>,
  ): Promise<{ readonly updated: number; readonly movedTo: string | null } | null> {
    let after: number | null = null
    let updated = 0
    let movedTo: string | null = null
    do {
      const step: Writes['seek']['result'] = await this.#writer.write('seek', {
        ...args,
        after,
        limit: PARTITIONS_PER_STEP,
        nowUs: this.#nowUs(),
      })
      if (!step.found && after === null) return null
      updated += step.updated
      movedTo = step.movedTo
      after = step.next
    } while (after !== null)
    return { updated, movedTo }
  }

  /** Runs a job to its end; `goOn` is asked between steps. Answers the rows it deleted. */
  async job(
    job: JobName,
    settings: {
      readonly limit: number
      readonly idleUs: number
      readonly everyUs: number | null
      readonly goOn: () => boolean
    },
  ): Promise<number> {
    let after: number | null = null
    let deleted = 0
    do {
      const step: Writes['jobStep']['result'] = await this.#writer.write('jobStep', {
        job,
        after,
        limit: settings.limit,
        idleUs: settings.idleUs,
        everyUs: settings.everyUs,
        nowUs: this.#nowUs(),
      })
      deleted += step.deleted
      after = step.next
    } while (after !== null && settings.goOn())
    return deleted
  }
}
