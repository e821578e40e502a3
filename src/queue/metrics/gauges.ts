import { GAUGES, type Gauge, type Sample, type SampledMinute, type Spread } from './columns.ts'

function spreadOf(value: number): Spread {
  return { sum: value, min: value, max: value, last: value }
}

/** Two runs of samples as one; `later` holds the newer samples. */
export function joinSpreads(earlier: Spread, later: Spread): Spread {
  return {
    sum: earlier.sum + later.sum,
    min: Math.min(earlier.min, later.min),
    max: Math.max(earlier.max, later.max),
    last: later.last,
  }
}

/** One sample as a run of its own. */
function minuteOf(sample: Sample): SampledMinute {
  const entries = GAUGES.map((gauge) => [gauge, spreadOf(sample[gauge])] as const)
  return { samples: 1, gauges: Object.fromEntries(entries) as Record<Gauge, Spread> }
}

/** Two runs of one process as one. */
export function joinMinutes(earlier: SampledMinute, later: SampledMinute): SampledMinute {
  const entries = GAUGES.map(
    (gauge) => [gauge, joinSpreads(earlier.gauges[gauge], later.gauges[gauge])] as const,
  )
  return {
    samples: earlier.samples + later.samples,
    gauges: Object.fromEntries(entries) as Record<Gauge, Spread>,
  }
}

/** The samples of one process since the last `take`. */
export class GaugeRun {
  #run: SampledMinute | undefined

  /** Adds one sample. */
  add(sample: Sample): void {
    const one = minuteOf(sample)
    this.#run = this.#run === undefined ? one : joinMinutes(this.#run, one)
  }

  /** The run so far, or undefined without a sample; the next run starts empty. */
  take(): SampledMinute | undefined {
    const run = this.#run
    this.#run = undefined
    return run
  }
}
