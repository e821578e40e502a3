import {
  isRulePath,
  type Level,
  levelsOf,
  normalPath,
  type RouteTable,
  readingsOf,
} from '../../access/index.ts'

/** What the rules are asked about: method and path alone. */
export interface RulingRequest {
  readonly method: string
  /** The path below `basePath` as sent. */
  readonly path: string
  /** The path as the framework reads it, if that is another one: both readings decide. */
  readonly readAs?: string | undefined
  /** True if the router ignores letter case or trailing slashes, so that rules must too. */
  readonly loose: boolean
}

/** What the rules say about a method and a path, whoever asks. */
export interface Ruling {
  /** True if no token is asked for, whatever the level. */
  readonly skipped: boolean
  /** The levels that must be open to the caller, every one of them. */
  readonly levels: readonly Level[]
}

/** Rulings by method, then by path. */
type ByMethod = Map<string, Map<string, Ruling>>

/** Rulings kept at most; a broker serves a few dozen paths, an app with ids in its paths starts again now and then. */
const MAX_KEPT = 1000
/** Longer paths are judged each time, so that what is kept stays below half a megabyte. */
const MAX_KEPT_CHARS = 256

/** Tells whether a path is on the skip list. Seed "Skipping paths": exact; an entry with a slash at its end is a prefix. */
function skipTest(entries: readonly string[]): (path: string) => boolean {
  // Both readings of a request have to be on the list, so an entry with encoded characters stands there in both.
  const spellings = entries.flatMap((entry) =>
    isRulePath(entry) ? [entry, normalPath(entry)] : entry,
  )
  const exact = new Set(spellings)
  const prefixes = spellings.filter((entry) => entry.length > 1 && entry.endsWith('/'))
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}

/** The skip list and the route table of one gate; they never change, so that a ruling once made holds for good. */
export class Rulings {
  readonly #skips: (path: string) => boolean
  readonly #table: RouteTable | undefined
  readonly #fixed: readonly Level[]
  /** What was ruled for routers that are loose, and for those that are not. */
  readonly #loose: ByMethod = new Map()
  readonly #exact: ByMethod = new Map()
  #count = 0

  /** @param target the table that classifies, or one level for every path */
  constructor(skipPaths: readonly string[], target: RouteTable | Level) {
    this.#skips = skipTest(skipPaths)
    this.#table = typeof target === 'string' ? undefined : target
    this.#fixed = typeof target === 'string' ? [target] : []
  }

  /** A ruling that was made before about a path that the framework reads as it is written. */
  known(method: string, path: string, loose: boolean): Ruling | undefined {
    return (loose ? this.#loose : this.#exact).get(method)?.get(path)
  }

  /** The ruling about a request; a path that the framework reads in another way is judged anew each time. */
  of(request: RulingRequest): Ruling {
    const { method, path, readAs, loose } = request
    if (readAs !== undefined || path.length > MAX_KEPT_CHARS) return this.#make(request)
    const known = this.known(method, path, loose)
    if (known !== undefined) return known
    const made = this.#make(request)
    this.#keep(loose ? this.#loose : this.#exact, method, path, made)
    return made
  }

  #make({ method, path, readAs, loose }: RulingRequest): Ruling {
    const paths = readAs === undefined ? [path] : [path, readAs]
    const readings = paths.flatMap(readingsOf)
    const levels = this.#table ? levelsOf(this.#table, method, readings, loose) : this.#fixed
    return { skipped: readings.every(this.#skips), levels }
  }

  #keep(byMethod: ByMethod, method: string, path: string, ruling: Ruling): void {
    // A copy: a part of a string keeps the whole alive, here the query too.
    const copy = Buffer.from(path, 'latin1').toString('latin1')
    if (copy !== path) return
    if (this.#count >= MAX_KEPT) {
      this.#loose.clear()
      this.#exact.clear()
      this.#count = 0
    }
    const byPath = byMethod.get(method) ?? new Map<string, Ruling>()
    byMethod.set(method, byPath.set(copy, ruling))
    this.#count += 1
  }
}
