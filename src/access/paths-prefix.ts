/** A path or prefix, cut at `/` and percent-decoded; empty segments are gone. */
export type Segments = readonly string[]

const DOT_SEGMENTS: ReadonlySet<string> = new Set(['.', '..'])

/** Characters that another reader of the same path could take for a separator or an end. */
function isAmbiguous(segment: string): boolean {
  return (
    DOT_SEGMENTS.has(segment) ||
    segment.includes('/') ||
    segment.includes('\\') ||
    segment.includes('\0')
  )
}

/** One percent-decoded segment; undefined for broken escapes and for bytes that are not UTF-8. */
function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * Cuts a path or prefix into decoded segments (token issuing, 1.2). Leading, trailing and doubled
 * slashes count for nothing. Undefined for what is refused rather than normalised, because a later
 * reader might normalise it differently: `.` and `..`, NUL, slashes and backslashes inside a segment,
 * broken escapes.
 */
export function segmentsOf(path: string): Segments | undefined {
  const segments: string[] = []
  for (const raw of path.split('/')) {
    if (raw === '') continue
    const segment = decoded(raw)
    if (segment === undefined || isAmbiguous(segment)) return undefined
    segments.push(segment)
  }
  return segments
}

/** True when `path` is `prefix` or lies below it, segment by segment: `hey` never covers `heyday`. */
export function covers(prefix: Segments, path: Segments): boolean {
  return prefix.length <= path.length && prefix.every((segment, at) => segment === path[at])
}

/**
 * True when one of the entries, each joined to `root`, covers `path`. An entry, root or path that
 * `segmentsOf` refuses opens nothing.
 */
export function isUnder(root: string, entries: readonly string[], path: string): boolean {
  const wanted = segmentsOf(path)
  const base = segmentsOf(root)
  if (!wanted || !base || !covers(base, wanted)) return false
  const rest = wanted.slice(base.length)
  return entries.some((entry) => {
    const prefix = segmentsOf(entry)
    return prefix !== undefined && covers(prefix, rest)
  })
}
