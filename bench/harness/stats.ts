/** The middle value; of an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The value below which the share `q` (0 to 1) of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

/** What each case gave, round by round. */
export type Samples = ReadonlyMap<string, readonly number[]>

/** Runs every case once per round, in turn, so that drift of the machine hits all alike. */
export async function samplesOf(
  cases: ReadonlyMap<string, () => Promise<number>>,
  rounds: number,
): Promise<Samples> {
  const samples = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of cases) {
      const list = samples.get(name) ?? []
      list.push(await run())
      samples.set(name, list)
    }
  }
  return samples
}

/** The median of each case. */
export function medians(samples: Samples): ReadonlyMap<string, number> {
  return new Map([...samples].map(([name, values]) => [name, median(values)]))
}

/** The median over the rounds of how one case did beside another in the same round. */
export function medianRatio(samples: Samples, over: string, under: string): number {
  const below = samples.get(under) ?? []
  return median(
    (samples.get(over) ?? []).map((value, round) => value / (below[round] ?? Number.NaN)),
  )
}

/** Runs the cases as `samplesOf` does; medians by name. */
export async function alternate(
  cases: ReadonlyMap<string, () => Promise<number>>,
  rounds: number,
): Promise<ReadonlyMap<string, number>> {
  return medians(await samplesOf(cases, rounds))
}
