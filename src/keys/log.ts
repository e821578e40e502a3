/** The part of a pino logger that is used here; any logger with these four methods will do. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const silent = (): void => undefined

/** Says nothing. */
export const NO_LOG: Log = { debug: silent, info: silent, warn: silent, error: silent }
