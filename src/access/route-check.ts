import type { Level } from './levels.ts'
import { type RouteRow, type RouteTable, RouteTableError } from './route-table.ts'

/** A route as it is registered: method in capitals and the path pattern in Express 5 syntax. */
export interface RegisteredRoute {
  readonly method: string
  readonly path: string
}

/** One piece of an Express 5 path pattern: `:name`, `*name`, `{`, `}`, an escaped character or plain text. */
const PIECE =
  /(?<param>:\w+)|(?<wild>\*\w+)|(?<open>\{)|(?<close>\})|\\(?<escaped>.)|(?<plain>[^:*{}\\]+)/g

/** Text that no rule will name: stands for any value of a parameter. */
const SAMPLE = 'x'

interface PatternPaths {
  /** Paths that the pattern matches: with its optional parts and without. */
  readonly samples: readonly string[]
  readonly regexp: RegExp
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function readPattern(pattern: string): PatternPaths {
  let [full, bare, source, depth] = ['', '', '', 0]
  for (const { groups = {} } of pattern.matchAll(PIECE)) {
    const text = groups['escaped'] ?? groups['plain'] ?? ''
    if (groups['open'] !== undefined) depth += 1
    if (groups['close'] !== undefined) depth -= 1
    const variable = groups['param'] ?? groups['wild']
    if (groups['param'] !== undefined) source += '[^/]+'
    else if (groups['wild'] !== undefined) source += '.+'
    else if (groups['open'] !== undefined) source += '(?:'
    else if (groups['close'] !== undefined) source += ')?'
    else source += escapeRegExp(text)
    full += variable === undefined ? text : SAMPLE
    if (depth === 0) bare += variable === undefined ? text : SAMPLE
  }
  return { samples: [full, bare], regexp: new RegExp(`^${source}$`) }
}

/**
 * Every level that some path of a pattern gets: the one of its samples, and the one of each rule's own path that the
 * pattern matches, because a literal may stand where the pattern has a parameter.
 */
function levelsOfPattern(table: RouteTable, row: RegisteredRoute): ReadonlySet<Level> {
  const { samples, regexp } = readPattern(row.path)
  const paths = table.rules
    .map((rule) => ('path' in rule ? rule.path : `${rule.prefix}${SAMPLE}`))
    .filter((path) => regexp.test(path))
  return new Set([...samples, ...paths].map((path) => table.levelOf(row.method, path)))
}

function rowProblems(table: RouteTable, row: RouteRow): readonly string[] {
  const levels = levelsOfPattern(table, row)
  if (levels.size === 1 && levels.has(row.level)) return []
  const found = [...levels].join(' and ')
  return [`${row.method} ${row.path}: the row says ${row.level}, the rules say ${found}`]
}

const keyOf = ({ method, path }: RegisteredRoute): string => `${method} ${path}`

/**
 * Checks that the rules classify each row of the table to the row's level, and that no row stands twice.
 * @throws RouteTableError naming every fault
 */
export function checkRows(table: RouteTable): void {
  const keys = table.routes.map(keyOf)
  const twice = new Set(keys.filter((key, at) => keys.indexOf(key) !== at))
  const problems = [
    ...[...twice].map((key) => `${key}: has more than one row`),
    ...table.routes.flatMap((row) => rowProblems(table, row)),
  ]
  if (problems.length > 0) throw new RouteTableError(problems)
}

/**
 * Checks the table against the router in both directions: every registered route has its row, every row its route,
 * and the rules give each row its level (design: "The plug-in"). Called at boot, before the listener binds.
 * @throws RouteTableError naming every fault
 */
export function checkRoutes(table: RouteTable, registered: readonly RegisteredRoute[]): void {
  checkRows(table)
  const rows = new Set(table.routes.map(keyOf))
  const routes = new Set(registered.map(keyOf))
  const problems = [
    ...[...routes].filter((key) => !rows.has(key)).map((key) => `${key}: is served without a row`),
    ...[...rows].filter((key) => !routes.has(key)).map((key) => `${key}: has a row but no route`),
  ]
  if (problems.length > 0) throw new RouteTableError(problems)
}
