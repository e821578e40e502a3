/** What a route asks for. The five are sets of roles, not steps. Seed: "Access levels are a role set, not a ladder". */
export const LEVELS = ['public', 'read-only', 'write-only', 'read-write', 'admin'] as const
export type Level = (typeof LEVELS)[number]

/** What a token can hold; the names are those of the levels that ask for them. */
export const ROLES = ['read-only', 'write-only', 'read-write', 'admin'] as const
export type Role = (typeof ROLES)[number]

const PASSED_BY: ReadonlyMap<Level, ReadonlySet<Role>> = new Map<Level, ReadonlySet<Role>>([
  ['public', new Set(ROLES)],
  ['read-only', new Set<Role>(['read-only', 'read-write', 'admin'])],
  ['write-only', new Set<Role>(['write-only', 'read-write', 'admin'])],
  ['read-write', new Set<Role>(['read-write', 'admin'])],
  ['admin', new Set<Role>(['admin'])],
])

const NO_ROLES: ReadonlySet<Role> = new Set()

/** The roles of which one opens a level; for `public` a role is not needed at all. */
export function rolesFor(level: Level): ReadonlySet<Role> {
  return PASSED_BY.get(level) ?? NO_ROLES
}

/** Whether the roles held satisfy a level. `public` is passed with no role. */
export function satisfies(held: readonly Role[], level: Level): boolean {
  if (level === 'public') return true
  const wanted = rolesFor(level)
  return held.some((role) => wanted.has(role))
}

/** Every combination of roles, by the bits of their places in ROLES: shared by all tokens that hold it. */
const ROLE_SETS: readonly (readonly Role[])[] = Array.from(
  { length: 1 << ROLES.length },
  (_, bits) => Object.freeze(ROLES.filter((_role, at) => (bits & (1 << at)) !== 0)),
)
const OPEN_LEVELS: ReadonlyMap<readonly Role[], ReadonlySet<Level>> = new Map(
  ROLE_SETS.map((held) => [held, new Set(LEVELS.filter((level) => satisfies(held, level)))]),
)
const NOTHING_HELD: readonly Role[] = Object.freeze([])
const NO_MEMBERS: readonly unknown[] = []

/** Where the roles are read from and which value means which role. Seed: "Remapping claims". */
export interface RoleMapping {
  /** Name of the claim that holds one role; a literal top-level key, dots and all. */
  readonly claim: string
  /** Name of the claim that holds an array of roles; a literal top-level key. */
  readonly arrayClaim: string
  /** The value that means each role; two roles may share one value, which then gives both. */
  readonly values: Readonly<Record<Role, string>>
}

/**
 * The roles a token holds: a role counts if it matches the single-value claim or a member of the array claim.
 * Values are compared whole, so a space-separated list is one (unknown) value; other JSON types hold nothing.
 */
export function rolesHeld(
  claims: Readonly<Record<string, unknown>>,
  mapping: RoleMapping,
): readonly Role[] {
  const single = ownValue(claims, mapping.claim)
  const several = ownValue(claims, mapping.arrayClaim)
  const members: readonly unknown[] = Array.isArray(several) ? several : NO_MEMBERS
  let bits = 0
  for (const [at, role] of ROLES.entries()) {
    const value = mapping.values[role]
    if (value !== '' && (single === value || members.includes(value))) bits |= 1 << at
  }
  return ROLE_SETS[bits] ?? NOTHING_HELD
}

/** The levels that the roles held open; `public` always. */
export function levelsOpenTo(held: readonly Role[]): ReadonlySet<Level> {
  const known = OPEN_LEVELS.get(held)
  return known ?? new Set(LEVELS.filter((level) => satisfies(held, level)))
}

/** Claims come from outside: a claim named `constructor` must not be found on the prototype. */
function ownValue(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}
