import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Express } from 'express'
import { afterAll, expect, it, vi } from 'vitest'
import { JWT_VARIABLES } from '../../src/config/jwt.ts'
import { startApp } from '../support/express-app.ts'
import { HS_SECRET } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const page = await readFile(join(ROOT, 'docs/auth.md'), 'utf8')
const folder = await mkdtemp(join(tmpdir(), 'hivegate-auth-page-'))
afterAll(() => rm(folder, { recursive: true }))

/** The app of the page's first example, with the package's name standing for this checkout. */
async function exampleApp(): Promise<Express> {
  const code = /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''
  const auth = pathToFileURL(join(ROOT, 'src/auth.ts')).href
  const text = code
    .replace("'hivegate/auth'", `'${auth}'`)
    .replace('app.listen(3000)', 'export default app')
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'example.mjs')
  await writeFile(file, text)
  const loaded: unknown = await import(/* @vite-ignore */ pathToFileURL(file).href)
  if (typeof loaded === 'object' && loaded !== null && 'default' in loaded) {
    // The text above ends with the export of what express() made.
    return loaded.default as Express
  }
  throw new Error('the example exports nothing')
}

it('the example runs: its rules decide, and req.auth holds who asks', async () => {
  vi.stubEnv('JWT_ENABLED', 'true')
  vi.stubEnv('JWT_SECRET', HS_SECRET)
  const example = await exampleApp()
  const running = await startApp((app) => app.use(example))
  const nowS = Math.floor(Date.now() / 1000)
  const ask = async (path: string, role?: string) => {
    const token =
      role === undefined ? undefined : mint({ claims: { role, iat: nowS, exp: nowS + 600 } })
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return await fetch(running.url + path, { headers })
  }
  try {
    expect((await ask('/reports/daily')).status).toBe(401)
    const daily = await ask('/reports/daily', 'read-only')
    expect(await daily.json()).toEqual({ for: 'tester', roles: ['read-only'] })
    expect((await ask('/admin/x', 'read-write')).status).toBe(403)
    expect((await ask('/about')).status).toBe(404)
  } finally {
    vi.unstubAllEnvs()
    await running.close()
  }
})

it('every variable that the page names exists', () => {
  const known = new Set<string>(Object.values(JWT_VARIABLES).map(({ name }) => name))
  const named = new Set(page.match(/JWT_[A-Z_]+[A-Z]/g))
  for (const name of named) expect(known).toContain(name)
})
