import type { DatabaseSync } from 'node:sqlite'
import type { StreamReads, StreamWrites } from '../../../store.ts'
import type { Acker } from '../ack.ts'
import type { Appender } from '../append.ts'
import type { Context } from '../context.ts'
import { Cycler } from './cycle.ts'
import { stateReader, stateWriter } from './state.ts'

type WriteHandlers = {
  readonly [K in keyof StreamWrites]: (args: StreamWrites[K]['args']) => StreamWrites[K]['result']
}

/** The writes of streams. */
export function streamWriteHandlers(
  context: Context,
  parts: { readonly appender: Appender; readonly acker: Acker },
): WriteHandlers {
  const state = stateWriter(context.db)
  const cycler = new Cycler(context, { ...parts, state })
  return {
    registerQuery: (args) => state.registerQuery(args),
    cycle: (args) => cycler.run(args),
  }
}

/** The reads of streams. */
export function streamReadHandlers(db: DatabaseSync): {
  readonly [K in keyof StreamReads]: (args: StreamReads[K]['args']) => StreamReads[K]['result']
} {
  return stateReader(db)
}
