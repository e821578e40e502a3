/** One step of a decision, for `hivegate explain`. Never holds the token or key material. */
export interface TraceStep {
  /** What was looked at, such as `algorithm` or `exp`. */
  readonly name: string
  readonly verdict: 'pass' | 'fail' | 'note'
  readonly detail: string
}

/** Receives the steps of a decision in the order in which they are taken. */
export type Trace = (step: TraceStep) => void

/**
 * Runs one check and records how it ended; the error goes on its way. Without a trace it only runs the check.
 * @param detail what to say when it passes; only called for a trace
 */
export function traced<T>(
  trace: Trace | undefined,
  name: string,
  check: () => T,
  detail: () => string,
): T {
  if (trace === undefined) return check()
  try {
    const result = check()
    trace({ name, verdict: 'pass', detail: detail() })
    return result
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'failed'
    trace({ name, verdict: 'fail', detail: reason })
    throw error
  }
}
