import { cpus, release, totalmem, type } from 'node:os'

/** One measured ratio beside what it has to reach. */
export interface Verdict {
  readonly what: string
  readonly ratio: number
  /** `>=` for a floor, `<=` for a ceiling. */
  readonly bound: '>=' | '<='
  readonly target: number
}

/** The machine in one line, for the head of every table. */
export function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} x ${cpu?.model.trim()}, ${memory} GiB, ${type()} ${release()}, Node ${process.version}`
}

/** Prints a Markdown table. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  console.log(`\n${lines.join('\n')}\n`)
}

/** Prints the ratios with their targets. */
export function printVerdicts(verdicts: readonly Verdict[]): void {
  printTable(
    ['ratio', 'measured', 'target', ''],
    verdicts.map(({ what, ratio, bound, target }) => {
      const met = bound === '>=' ? ratio >= target : ratio <= target
      return [what, ratio.toFixed(2), `${bound} ${target.toFixed(2)}`, met ? 'met' : 'MISSED']
    }),
  )
}
