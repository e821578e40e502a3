import { describe, expect, it } from 'vitest'
import {
  LEVELS,
  levelsOpenTo,
  ROLES,
  type RoleMapping,
  rolesFor,
  rolesHeld,
  satisfies,
} from '../../src/access/index.ts'

const MAPPING: RoleMapping = {
  claim: 'role',
  arrayClaim: 'roles',
  values: {
    'read-only': 'read-only',
    'write-only': 'write-only',
    'read-write': 'read-write',
    admin: 'admin',
  },
}

describe('the five levels are sets of roles', () => {
  const passedBy = {
    public: ['read-only', 'write-only', 'read-write', 'admin'],
    'read-only': ['read-only', 'read-write', 'admin'],
    'write-only': ['write-only', 'read-write', 'admin'],
    'read-write': ['read-write', 'admin'],
    admin: ['admin'],
  } as const

  it.each(LEVELS)('%s is passed by exactly its roles', (level) => {
    for (const role of ROLES) {
      expect(satisfies([role], level)).toBe(passedBy[level].some((name) => name === role))
    }
    expect([...rolesFor(level)].toSorted()).toEqual([...passedBy[level]].toSorted())
  })

  it('only public is passed without a role', () => {
    expect(LEVELS.filter((level) => satisfies([], level))).toEqual(['public'])
  })

  it('the levels open to roles are those that the roles satisfy', () => {
    for (const role of ROLES) {
      const expected = LEVELS.filter((level) => satisfies([role], level))
      expect([...levelsOpenTo([role])]).toEqual(expected)
      expect([...levelsOpenTo(rolesHeld({ role }, MAPPING))]).toEqual(expected)
    }
    expect([...levelsOpenTo([])]).toEqual(['public'])
  })

  it('one fitting role among several is enough', () => {
    expect(satisfies(['write-only', 'read-only'], 'read-only')).toBe(true)
    expect(satisfies(['write-only', 'read-only'], 'read-write')).toBe(false)
  })
})

describe('the roles that claims hold', () => {
  it('are the union of the single claim and the array claim', () => {
    expect(rolesHeld({ role: 'read-only', roles: ['admin', 'x'] }, MAPPING)).toEqual([
      'read-only',
      'admin',
    ])
  })

  it.each([
    [{ role: ['admin'] }],
    [{ roles: 'admin' }],
    [{ roles: { 0: 'admin', length: 1 } }],
    [{ role: 'admin read-only' }],
    [{ role: 'Admin' }],
    [{ role: '' }],
    [{ roles: [['admin'], null, 1, ''] }],
    [{}],
  ])('%j holds none', (claims) => {
    expect(rolesHeld(claims, MAPPING)).toEqual([])
  })

  it('are read from literal top-level keys, dots and URLs included', () => {
    const nested = { realm_access: { roles: ['admin'] } }
    const dotted = { ...MAPPING, arrayClaim: 'realm_access.roles' }
    expect(rolesHeld(nested, dotted)).toEqual([])
    expect(rolesHeld({ 'realm_access.roles': ['admin'] }, dotted)).toEqual(['admin'])
    const url = { ...MAPPING, claim: 'https://example.com/roles' }
    expect(rolesHeld({ 'https://example.com/roles': 'admin' }, url)).toEqual(['admin'])
  })

  it('are not found on the prototype', () => {
    const values = { ...MAPPING.values, admin: 'Object' }
    expect(rolesHeld({}, { ...MAPPING, claim: 'constructor', values })).toEqual([])
  })

  it('two roles that share one value are both held', () => {
    const values = { ...MAPPING.values, 'read-only': 'user', 'write-only': 'user' }
    expect(rolesHeld({ role: 'user' }, { ...MAPPING, values })).toEqual(['read-only', 'write-only'])
  })

  it('one claim name may serve as both', () => {
    const same = { ...MAPPING, claim: 'groups', arrayClaim: 'groups' }
    expect(rolesHeld({ groups: 'admin' }, same)).toEqual(['admin'])
    expect(rolesHeld({ groups: ['admin'] }, same)).toEqual(['admin'])
  })
})
