/** Freezes a JSON value all the way down; without recursion, because a token may nest deeper than the stack. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    Object.freeze(next)
    for (const member of Object.values(next)) if (typeof member === 'object') open.push(member)
  }
  return value
}
