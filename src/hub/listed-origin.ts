/** What a star in an origin pattern stands for: labels of a host name, or a port; never a separator. */
const STAR = /^[a-z0-9._-]+$/

function fits(origin: string, pattern: string): boolean {
  const star = pattern.indexOf('*')
  if (star < 0) return origin === pattern
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const middle = origin.slice(head.length, origin.length - tail.length)
  return origin === `${head}${middle}${tail}` && STAR.test(middle)
}

/** Whether an origin is listed; patterns are in lower case, with at most one star, and `*` is every origin. */
export function isListedOrigin(origin: string, patterns: readonly string[]): boolean {
  const lower = origin.toLowerCase()
  return patterns.some((pattern) => pattern === '*' || fits(lower, pattern))
}
