import type { z } from 'zod'

/** How one kind of value is read: the schema that parses its text, and the words that say what it takes. */
export interface Kind<T> {
  readonly schema: z.ZodType<T, string>
  readonly accepts: string
}

/** One row of the environment table: everything that is known about one variable. */
export interface Variable<T> extends Kind<T> {
  readonly name: string
  /** One line for `.env.example` and error messages: what the variable does. */
  readonly about: string
  /** The value when the variable is absent or empty. */
  readonly fallback: T
  /** True for key material and passwords: the value never appears in a message. */
  readonly secret: boolean
}

/** A named group of variables; the keys are the names of the resulting settings. */
export type Section = Readonly<Record<string, Variable<unknown>>>

/** The settings that a section yields. */
export type Settings<S extends Section> = {
  readonly [K in keyof S]: S[K] extends Variable<infer T> ? T : never
}

/** The process environment, or any stand-in for it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Makes one row of the environment table; `name`, its kind, its default and what it is for. */
export function variable<T>(
  name: string,
  kind: Kind<T>,
  fallback: NoInfer<T>,
  about: string,
): Variable<T> {
  return { name, ...kind, fallback, about, secret: false }
}

/** The same for key material: a message never repeats the value. */
export function secret<T>(
  name: string,
  kind: Kind<T>,
  fallback: NoInfer<T>,
  about: string,
): Variable<T> {
  return { ...variable(name, kind, fallback, about), secret: true }
}

/** What stands before the last `@`, less the scheme: in a URL, however broken, it may be a user and a password. */
const USER_INFO = /^(https?:?\/+|file:\/+)?.*@/is

/** A value as a message may repeat it: quoted, and without the user part of a URL. */
export function quoted(text: string): string {
  return JSON.stringify(text.replace(USER_INFO, '$1***@'))
}

/** A value that cannot be read, in one line: the name, what it got (never a secret) and what it takes. */
function problemOf(row: Variable<unknown>, text: string): string {
  const got = row.secret ? `a value of ${text.length} characters` : quoted(text)
  return `${row.name}: got ${got}, expected ${row.accepts}`
}

/**
 * Reads one section from the environment. An absent or empty variable takes its default; a value that
 * cannot be read adds one line to `problems` and takes the default, so that all faults are found in one go.
 */
export function readSection<S extends Section>(
  env: Environment,
  section: S,
  problems: string[],
): Settings<S> {
  const entries = Object.entries(section).map(([key, row]) => {
    const text = env[row.name]
    if (text === undefined || text === '') return [key, row.fallback]
    const parsed = row.schema.safeParse(text)
    if (parsed.success) return [key, parsed.data]
    problems.push(problemOf(row, text))
    return [key, row.fallback]
  })
  // The entries were made from the section's own rows, so the shape is the section's.
  return Object.freeze(Object.fromEntries(entries)) as Settings<S>
}
