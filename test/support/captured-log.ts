import { type Logger, pino } from 'pino'

/** A log that is kept in memory, for tests of what is, and what is not, written. */
export interface CapturedLog {
  readonly logger: Logger
  /** Everything that was written, as it would stand on stdout. */
  text(): string
  /** The parsed lines. */
  lines(): readonly Readonly<Record<string, unknown>>[]
  /** Resolves with the first line whose message has this text; waits for it. */
  line(message: string): Promise<Readonly<Record<string, unknown>>>
}

/** Makes a log at `level` that writes to memory. */
export function capturedLog(level = 'debug'): CapturedLog {
  const written: string[] = []
  const waiters = new Set<() => void>()
  const parse = (line: string) => JSON.parse(line) as Record<string, unknown>
  const destination = {
    write(line: string) {
      written.push(line)
      for (const wake of waiters) wake()
    },
  }
  const formatters = { level: (label: string) => ({ level: label }) }
  return {
    logger: pino({ level, base: null, formatters }, destination),
    text: () => written.join(''),
    lines: () => written.map(parse),
    line: (message) =>
      new Promise((resolve) => {
        const look = () => {
          const found = written.map(parse).find((line) => String(line['msg']).includes(message))
          if (!found) return
          waiters.delete(look)
          resolve(found)
        }
        waiters.add(look)
        look()
      }),
  }
}
