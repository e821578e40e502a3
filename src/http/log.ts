import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** Where a token, cookie or key could stand if some object with headers were ever logged. */
const REDACTED = [
  'authorization',
  'cookie',
  'headers.authorization',
  'headers.cookie',
  'headers["set-cookie"]',
  'req.headers.authorization',
  'req.headers.cookie',
  'res.headers["set-cookie"]',
  'token',
  'secret',
]

/** Makes the log: JSON lines on stdout (or `destination`), without process id and host name. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return destination ? pino(options, destination) : pino(options)
}
