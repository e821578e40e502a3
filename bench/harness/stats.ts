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

/** The cases in turn, another one first each time: the one that follows a heavy one is at a disadvantage. */
function turned<T>(cases: readonly T[], by: number): readonly T[] {
  const at = by % Math.max(1, cases.length)
  return [...cases.slice(at), ...cases.slice(0, at)]
}

/**
 * Runs every case once per round, in turn, so that drift of the machine hits all alike.
 * @param slices each run is cut into that many, those of the cases in turn too, and gives their mean: for a machine
 * whose speed changes within a run
 */
export async function samplesOf(
  cases: ReadonlyMap<string, () => Promise<number>>,
  rounds: number,
  slices = 1,
): Promise<Samples> {
  const samples = new Map([...cases.keys()].map((name): [string, number[]] => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    const sums = new Map<string, number>()
    for (let slice = 0; slice < slices; slice += 1) {
      for (const [name, run] of turned([...cases], round * slices + slice)) {
        sums.set(name, (sums.get(name) ?? 0) + (await run()))
      }
    }
    for (const [name, sum] of sums) samples.get(name)?.push(sum / slices)
  }
  return samples
}

/** The rounds of several samples, one after another. */
export function joined(parts: readonly Samples[]): Samples {
  const names = new Set(parts.flatMap((part) => [...part.keys()]))
  return new Map([...names].map((name) => [name, parts.flatMap((part) => part.get(name) ?? [])]))
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
