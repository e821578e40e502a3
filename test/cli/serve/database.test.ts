import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHivegate, startChildBroker } from '../../support/child-broker.ts'
import { createDatabase, type TestDatabase, urlOf } from '../../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/** Runs a broker that cannot start; its stderr, which has to be one line. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runHivegate(['serve'], { PORT: '0', ...env })
  expect(code).toBe(1)
  expect(stdout).not.toContain('listening')
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toMatch(/s3cret|wr0ng/)
  return stderr.trimEnd()
}

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

test('a database that cannot be reached is one line that names DATABASE_URL', async () => {
  const port = await closedPort()
  expect(await refusal({ DATABASE_URL: `postgres://u:s3cret@127.0.0.1:${port}/x` })).toBe(
    `DATABASE_URL: the database 127.0.0.1:${port}/x cannot be used (ECONNREFUSED)`,
  )
})

test('so is a wrong password, and a database that is not there', async () => {
  const wrong = { ...database.target, password: 'wr0ng' }
  expect(await refusal({ DATABASE_URL: urlOf(wrong) })).toMatch(
    /^DATABASE_URL: the database .* cannot be used \(password authentication failed for user /,
  )
  const nowhere = { ...database.target, database: 'nowhere' }
  expect(await refusal({ DATABASE_URL: urlOf(nowhere) })).toMatch(
    /^DATABASE_URL: the database .*nowhere cannot be used \(database "nowhere" does not exist\)$/,
  )
})

test('so is a role without rights, in the words of the server, once', async () => {
  await database.query(`CREATE ROLE without_rights LOGIN PASSWORD 's3cret'`)
  try {
    const url = urlOf({ ...database.target, user: 'without_rights', password: 's3cret' })
    expect(await refusal({ DATABASE_URL: url })).toMatch(
      /^DATABASE_URL: the database \S+ cannot be used \(permission denied for (database|schema) \w+\)$/,
    )
  } finally {
    await database.query('DROP ROLE without_rights')
  }
})

test('so is a server without TLS when TLS is asked for', async () => {
  const url = `${urlOf(database.target)}?sslmode=verify-full`
  expect(await refusal({ DATABASE_URL: url })).toMatch(
    /^DATABASE_URL: .*The server does not support SSL connections/,
  )
})

test('a file of the URL that cannot be read is named', async () => {
  const url = `${urlOf(database.target)}?sslmode=verify-full&sslrootcert=/none.pem`
  expect(await refusal({ DATABASE_URL: url })).toBe(
    'DATABASE_URL: "/none.pem" cannot be read (ENOENT)',
  )
})

test('a DATABASE_LISTEN_URL that leads to another database is refused, without its password', {
  timeout: 180_000,
}, async () => {
  const other = await createDatabase()
  await other.query(`CREATE ROLE listener LOGIN PASSWORD 's3cret'`)
  try {
    const env = (user: string, password: string) => ({
      ...{ DATABASE_URL: database.url, DATABASE_POOLER: 'true' },
      DATABASE_LISTEN_URL: urlOf({ ...other.target, user, password }),
    })
    const place = (target: { host: string; port: number; database: string }) =>
      `${target.host}:${target.port}/${target.database}`
    expect(await refusal(env('listener', 's3cret'))).toBe(
      `DATABASE_LISTEN_URL: ${place(other.target)} does not hear what is notified through DATABASE_URL ` +
        `(${place(database.target)}); it has to lead to the same database, past any pooler`,
    )
    expect(await refusal(env('listener', 'wr0ng'))).toBe(
      `DATABASE_LISTEN_URL: the database ${place(other.target)} cannot be used ` +
        '(password authentication failed for user "listener")',
    )
  } finally {
    await other.query('DROP ROLE listener')
    await other.drop()
  }
})

test('tables of a newer version are refused', async () => {
  const broker = await startChildBroker({ DATABASE_URL: database.url })
  broker.signal('SIGTERM')
  expect((await broker.exited).code).toBe(0)
  const newer = `INSERT INTO hivegate.schema_migration VALUES ('hub', 99, '099-x.sql')`
  await database.query(newer)
  expect(await refusal({ DATABASE_URL: database.url })).toMatch(
    /^DATABASE_URL: the database .* cannot be used \(the database has schema 99 of "hub", newer than this/,
  )
})
