import type { MoveStep } from '../storage/index.ts'

const WIDTH = 30
/** Where nobody watches a bar, one line for each tenth. */
const TENTHS = 10

const WORDS = { copy: 'copying', verify: 'comparing' } as const

/** Shows how far a move is: a bar on a terminal, a few lines elsewhere. Answers how to end it. */
export function progressBar(out: NodeJS.WriteStream) {
  let shown = ''
  return {
    show({ phase, table, rows, of }: MoveStep): void {
      const part = of === 0 ? 1 : Math.min(rows / of, 1)
      const percent = `${Math.floor(part * 100)}`.padStart(3)
      if (out.isTTY) {
        const bar = '█'.repeat(Math.floor(part * WIDTH)).padEnd(WIDTH, '░')
        out.write(`\r\x1b[K${WORDS[phase].padEnd(9)} ${bar} ${percent}%  ${rows}/${of}  ${table}`)
        return
      }
      const step = `${phase}${Math.floor(part * TENTHS)}`
      if (step !== shown) out.write(`${WORDS[phase]} ${percent}% (${rows} of ${of} rows)\n`)
      shown = step
    },
    end(): void {
      if (out.isTTY) out.write('\r\x1b[K')
    },
  }
}
