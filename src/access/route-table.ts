import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { LEVELS, type Level } from './levels.ts'
import { isRulePath, normalPath } from './paths.ts'

/** Raised for a table that cannot be used, or that disagrees with the router; `problems` names every fault. */
export class RouteTableError extends Error {
  readonly code = 'route_table_invalid'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The route table cannot be used:\n${problems.join('\n')}`)
    this.name = 'RouteTableError'
    this.problems = problems
  }
}

const method = z
  .string()
  .regex(/^[A-Z][A-Z-]*$/, 'a method is written in capitals')
  .refine((name) => name !== 'HEAD', 'HEAD counts as GET and has no rules of its own')
const rulePath = z
  .string()
  .startsWith('/', 'a path begins with /')
  .refine(isRulePath, 'a path is written in normal form')
const methods = z.union([z.literal('*'), z.array(method).min(1)])
const level = z.enum(LEVELS)

const ruleSchema = z.union([
  z.strictObject({ methods, path: rulePath, level }),
  z.strictObject({ methods, prefix: rulePath, level }),
])
const routeSchema = z.strictObject({
  method,
  path: z.string().startsWith('/', 'a path begins with /'),
  level,
  summary: z.string().min(1),
})
const tableSchema = z.strictObject({
  rules: z.array(ruleSchema),
  default: level.default('read-write'),
  routes: z.array(routeSchema).default([]),
})

/** One classification rule: methods (or `*`), an exact `path` or a `prefix`, and the level. The first that fits decides. */
export type RouteRule = z.output<typeof ruleSchema>
/** One served route: method, path pattern in Express 5 syntax, its level and what it does. */
export type RouteRow = z.output<typeof routeSchema>
/** The same shape, which a value made with `as const` fits too. */
type Unchanged<T> = T extends readonly (infer E)[]
  ? readonly Unchanged<E>[]
  : { readonly [K in keyof T]: Unchanged<T[K]> }

/** What an app writes: as `routes.table.json`; `default` is `read-write` and `routes` empty when left out. */
export type RouteTableInput = Unchanged<z.input<typeof tableSchema>>

/** A validated table that can tell the level of one reading of a path. */
export interface RouteTable {
  readonly rules: readonly RouteRule[]
  readonly default: Level
  readonly routes: readonly RouteRow[]
  /** The level of a method and a path as they are written. HEAD counts as GET (design: "The plug-in"). */
  levelOf(method: string, path: string): Level
  /** The same for a router that ignores letter case and a trailing slash, as Express does by default. */
  looseLevelOf(method: string, path: string): Level
}

interface Matcher {
  readonly methods: ReadonlySet<string> | undefined
  /** The text of the rule and, if it holds encoded characters or ones that travel encoded, its other spelling. */
  readonly texts: readonly string[]
  readonly exact: boolean
  readonly level: Level
}

function matcherOf(rule: RouteRule): Matcher {
  const exact = 'path' in rule
  const text = exact ? rule.path : rule.prefix
  return {
    methods: rule.methods === '*' ? undefined : new Set(rule.methods),
    texts: [...new Set([text, normalPath(text)])],
    exact,
    level: rule.level,
  }
}

/** The first rule that fits. `path` and `open` are the same, unless slashes at the end do not count: `open` has one. */
function firstLevel(
  matchers: readonly Matcher[],
  verb: string,
  path: string,
  open: string,
): Level | undefined {
  for (const { methods, texts, exact, level } of matchers) {
    const fits = exact ? texts.includes(path) : texts.some((text) => open.startsWith(text))
    if (fits && (methods === undefined || methods.has(verb))) return level
  }
  return undefined
}

const SLASH = '/'

/** In lower case and without slashes at the end. */
function looseText(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === SLASH) end -= 1
  return path.slice(0, end).toLowerCase()
}

function looseMatcher(row: Matcher): Matcher {
  return {
    ...row,
    texts: row.texts.map((text) => (row.exact ? looseText(text) : text.toLowerCase())),
  }
}

/**
 * Validates a table in the form of `routes.table.json`.
 * @throws RouteTableError for an unknown key, level or form
 */
export function loadRouteTable(input: unknown): RouteTable {
  const parsed = tableSchema.safeParse(input)
  if (!parsed.success) {
    throw new RouteTableError([z.prettifyError(parsed.error)])
  }
  const { rules, routes, default: fallback } = parsed.data
  const matchers = rules.map(matcherOf)
  const loose = matchers.map(looseMatcher)
  const verbOf = (name: string): string => (name === 'HEAD' ? 'GET' : name)
  return Object.freeze({
    rules,
    routes,
    default: fallback,
    levelOf: (name: string, path: string) =>
      firstLevel(matchers, verbOf(name), path, path) ?? fallback,
    looseLevelOf: (name: string, path: string) => {
      const text = looseText(path)
      const open = text === SLASH ? text : text + SLASH
      return firstLevel(loose, verbOf(name), text, open) ?? fallback
    },
  })
}

/** The broker's own table, the one source of route levels: `routes.table.json` at the top of the package. */
export function brokerRouteTable(): RouteTable {
  const file = new URL('../../routes.table.json', import.meta.url)
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return loadRouteTable(content)
}
