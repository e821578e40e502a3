import { LEVELS, type Level } from './levels.ts'
import { isNormalPath, normalPath } from './paths.ts'
import type { RouteTable } from './route-table.ts'

/** What a request must satisfy: every level listed. More than one only if the path can be read in more than one way. */
export interface Classification {
  readonly levels: readonly Level[]
  /** The readings that were classified, the path as sent first. */
  readonly paths: readonly string[]
}

/**
 * The readings of a path: as sent and, if that is not its normal form, normalised. A router, proxy or handler may
 * take either, so a decision has to hold for both.
 */
export function readingsOf(path: string): readonly string[] {
  if (isNormalPath(path)) return [path]
  const normal = normalPath(path)
  return normal === path ? [path] : [path, normal]
}

const ONE_LEVEL: ReadonlyMap<Level, readonly Level[]> = new Map(
  LEVELS.map((level) => [level, Object.freeze([level])]),
)

/**
 * The levels that a request must satisfy. `public` stands in the result only if every reading is public.
 * @param rawPath the path as sent, without query
 * @param loose true for a router that ignores letter case and trailing slashes: that reading must hold too
 */
export function classify(
  table: RouteTable,
  method: string,
  rawPath: string,
  loose = false,
): Classification {
  const paths = readingsOf(rawPath)
  return { levels: levelsOf(table, method, paths, loose), paths }
}

/** The levels of readings that are known already; see {@link classify}. */
export function levelsOf(
  table: RouteTable,
  method: string,
  paths: readonly string[],
  loose: boolean,
): readonly Level[] {
  const [only] = paths
  if (paths.length === 1 && only !== undefined && !loose) {
    const level = table.levelOf(method, only)
    return ONE_LEVEL.get(level) ?? [level]
  }
  const levels = new Set(paths.map((path) => table.levelOf(method, path)))
  if (loose) for (const path of paths) levels.add(table.looseLevelOf(method, path))
  if (levels.size > 1) levels.delete('public')
  return [...levels]
}
