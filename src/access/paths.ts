/** `scheme://authority` in front of a path: the absolute form of a request target (RFC 9112 §3.2.2). */
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Hex of what is encoded without need (RFC 3986 §2.3: letters, digits, `-`, `.`, `_`, `~`), or is a slash or backslash. */
const PLAIN_HEX = '2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9ae]'

/** Empty or dot segments, or a backslash. */
const ODD_SEGMENTS = '//|/\\.{1,2}(?:/|$)|\\\\'

/** What may make a path differ from its normal form. An encoded percent sign stays, so that nothing is decoded twice. */
const NOT_NORMAL = new RegExp(`${ODD_SEGMENTS}|%(?!25)[0-9a-f]{2}`, 'i')
const ENCODED_RUN = /(?:%(?!25)[0-9a-f]{2})+/gi
const ENCODED_ASCII = /%(?!25)[0-7][0-9a-f]/gi

const NO_RULE = new RegExp(`${ODD_SEGMENTS}|%(?:${PLAIN_HEX})|[?#]`, 'i')

/** Characters that percent-encoded bytes stand for; bytes that are no UTF-8 stay as they are. */
function decodeRun(run: string): string {
  try {
    return decodeURIComponent(run)
  } catch {
    return run.replace(ENCODED_ASCII, (one) => decodeURIComponent(one))
  }
}

/** What stands before a character, or everything. */
function before(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at === -1 ? text : text.slice(0, at)
}

/** The path of a request target: without query and fragment, and without `scheme://host` of the absolute form. */
export function pathOf(target: string): string {
  const rest = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const path = before(before(rest, '?'), '#')
  return path === '' ? '/' : path
}

/** Whether a path already is its own normal form, so that it has one reading only. */
export function isNormalPath(path: string): boolean {
  return (path.startsWith('/') && !NOT_NORMAL.test(path)) || normalPath(path) === path
}

/** Whether a rule can be written with this path: without query, odd segments and what is encoded without need. */
export function isRulePath(path: string): boolean {
  return path.startsWith('/') && !NO_RULE.test(path)
}

/**
 * The reading that a lenient server or handler would give to a path: what is encoded is decoded once (all but the
 * percent sign), backslashes are slashes, empty segments vanish, `.` and `..` are resolved. Never used for routing.
 */
export function normalPath(path: string): string {
  const decoded = path.replace(ENCODED_RUN, decodeRun).replaceAll('\\', '/')
  const segments: string[] = []
  const parts = decoded.split('/')
  for (const part of parts) {
    if (part === '..') segments.pop()
    else if (part !== '' && part !== '.') segments.push(part)
  }
  const last = parts.at(-1)
  const open = last === '' || last === '.' || last === '..'
  return segments.length === 0 ? '/' : `/${segments.join('/')}${open ? '/' : ''}`
}
