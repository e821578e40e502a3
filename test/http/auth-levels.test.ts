import { describe, expect, it } from 'vitest'
import { guardedApp, type Level, PASSED_BY, ROLES } from '../support/guarded-app.ts'
import { mint } from '../support/tokens.ts'

const LEVELS: readonly Level[] = ['public', 'read-only', 'write-only', 'read-write', 'admin']
const FORBIDDEN = { error: 'Insufficient permissions' }
const NONE = { role: undefined, roles: undefined }

/** Claims of the external provider that `REMAPPED` reads. */
const REMAPPED = {
  JWT_ROLES_CLAIM: 'scope',
  JWT_ROLES_ARRAY_CLAIM: 'https://example.com/roles',
  JWT_ROLE_ADMIN: 'queen.admin',
  JWT_ROLE_READ_WRITE: 'queen.all',
  JWT_ROLE_READ_ONLY: 'queen.read',
  JWT_ROLE_WRITE_ONLY: 'queen.write',
}
const REMAPPED_NAMES: Readonly<Record<string, string>> = {
  admin: 'queen.admin',
  'read-write': 'queen.all',
  'read-only': 'queen.read',
  'write-only': 'queen.write',
}

async function verdict(
  level: Level,
  claims: Record<string, unknown> | undefined,
  env: Record<string, string> = {},
) {
  const app = await guardedApp(env, { level })
  const token = claims && mint({ claims: { ...NONE, ...claims } })
  const { status, body } = await app.ask('/anything', { token })
  expect(app.reached.length).toBe(status === 200 ? 1 : 0)
  if (status === 403) expect(body).toEqual(FORBIDDEN)
  return status
}

describe.each(LEVELS)('a route of level %s', (level) => {
  it.each(ROLES)(
    'and the role %s, by either claim, under default and other names',
    async (role) => {
      const expected = PASSED_BY[level].includes(role) ? 200 : 403
      const other = REMAPPED_NAMES[role]
      expect(await verdict(level, { role })).toBe(expected)
      expect(await verdict(level, { roles: [role] })).toBe(expected)
      expect(await verdict(level, { roles: ['x', role, 'y'] })).toBe(expected)
      expect(await verdict(level, { scope: other }, REMAPPED)).toBe(expected)
      expect(await verdict(level, { 'https://example.com/roles': [other] }, REMAPPED)).toBe(
        expected,
      )
    },
  )

  it('without a token', async () => {
    expect(await verdict(level, undefined)).toBe(level === 'public' ? 200 : 401)
  })

  it('with a valid token that holds no role', async () => {
    const expected = level === 'public' ? 200 : 403
    for (const claims of [
      {},
      { role: '' },
      { roles: [] },
      { role: 'root', roles: ['Admin', ''] },
    ]) {
      expect(await verdict(level, claims)).toBe(expected)
    }
  })

  it('with the default role names once they are remapped', async () => {
    const expected = level === 'public' ? 200 : 403
    for (const role of ROLES) {
      expect(await verdict(level, { role, roles: [role] }, REMAPPED)).toBe(expected)
      expect(await verdict(level, { scope: role }, REMAPPED)).toBe(expected)
    }
  })
})

describe('the roles that a token holds', () => {
  it('are the union of the two claims', async () => {
    const both = { role: 'read-only', roles: ['write-only'] }
    expect(await verdict('read-only', both)).toBe(200)
    expect(await verdict('write-only', both)).toBe(200)
    expect(await verdict('read-write', both)).toBe(403)
    expect(await verdict('admin', { role: 'nothing', roles: ['admin'] })).toBe(200)
    expect(await verdict('admin', { role: 'admin', roles: ['nothing'] })).toBe(200)
  })

  it.each([
    'Admin',
    'ADMIN',
    ' admin',
    'admin ',
    'admin,read-only',
    'admin read-only',
    'admi',
    'admins',
  ])('%j is not the role admin: names are compared whole', async (role) => {
    expect(await verdict('admin', { role })).toBe(403)
    expect(await verdict('admin', { roles: [role] })).toBe(403)
  })

  it('a scope string is one role compared whole, never split', async () => {
    const env = { JWT_ROLES_CLAIM: 'scope', JWT_ROLE_WRITE_ONLY: 'queen.write' }
    expect(await verdict('write-only', { scope: 'queen.write' }, env)).toBe(200)
    expect(await verdict('write-only', { scope: 'queen.write queen.read' }, env)).toBe(403)
  })

  it('a claim name with dots is a literal top-level key, not a path', async () => {
    const env = { JWT_ROLES_ARRAY_CLAIM: 'realm_access.roles' }
    expect(await verdict('admin', { realm_access: { roles: ['admin'] } }, env)).toBe(403)
    expect(await verdict('admin', { 'realm_access.roles': ['admin'] }, env)).toBe(200)
  })

  it.each(['__proto__', 'constructor', 'toString', 'length', 'hasOwnProperty'])(
    'a claim named %s is read from the token alone',
    async (name) => {
      const env = { JWT_ROLES_CLAIM: name, JWT_ROLES_ARRAY_CLAIM: `${name}s` }
      expect(await verdict('admin', {}, env)).toBe(403)
    },
  )

  it('a claim of the wrong type never counts as a role', async () => {
    const wrong = [5, true, null, {}, { admin: true }, [['admin']], [{ role: 'admin' }]]
    for (const value of wrong) {
      expect(await verdict('admin', { role: value })).toBeGreaterThanOrEqual(401)
      expect(await verdict('admin', { roles: value })).toBeGreaterThanOrEqual(401)
    }
  })

  it('a role mapping that matches nothing starts, and every route but the public ones is 403', async () => {
    const env = { JWT_ROLES_CLAIM: 'absent', JWT_ROLES_ARRAY_CLAIM: 'absent-too' }
    for (const level of LEVELS) {
      const expected = level === 'public' ? 200 : 403
      expect(await verdict(level, { role: 'admin', roles: ['admin'] }, env)).toBe(expected)
    }
  })

  it('two levels may share one role name', async () => {
    const env = { JWT_ROLE_ADMIN: 'staff', JWT_ROLE_READ_ONLY: 'staff' }
    expect(await verdict('admin', { role: 'staff' }, env)).toBe(200)
    expect(await verdict('read-only', { role: 'staff' }, env)).toBe(200)
  })

  it.each(['JWT_ROLE_ADMIN', 'JWT_ROLE_READ_WRITE', 'JWT_ROLE_READ_ONLY', 'JWT_ROLE_WRITE_ONLY'])(
    'an empty %s means the default name, and an empty role matches nothing',
    async (name) => {
      for (const level of ['read-only', 'write-only', 'read-write', 'admin'] as const) {
        expect(await verdict(level, { role: '' }, { [name]: '' })).toBe(403)
        expect(await verdict(level, { role: level }, { [name]: '' })).toBe(200)
      }
    },
  )
})
