import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { problemsOf } from './problems.ts'

const read = (url: string) => loadConfig({ DATABASE_URL: url }).database.url
const warningsOf = (env: Record<string, string>) => loadConfig(env).warnings

describe('DATABASE_URL', () => {
  it('is read with its percent escapes undone', () => {
    expect(read('postgres://us%3Aer:p%40ss%2F%25@db.example:6543/my%20db')).toEqual({
      ...{ host: 'db.example', port: 6543, database: 'my db', user: 'us:er', password: 'p@ss/%' },
      ...{ tlsMode: 'disable', rootCertFile: '', certFile: '', keyFile: '', ignored: [] },
    })
  })

  it.each([
    ['postgresql://u@db/x', { host: 'db', port: 5432, database: 'x', password: undefined }],
    ['postgres://u@[::1]:1/x', { host: '::1', port: 1 }],
    ['postgres://u@db', { database: 'u' }],
    ['postgres:///x?host=/run/postgresql&user=u', { host: '/run/postgresql', database: 'x' }],
    ['postgres://u@%2Frun%2Fpostgresql/x', { host: '/run/postgresql' }],
    ['postgres:///x?user=u&password=p', { host: 'localhost', user: 'u', password: 'p' }],
    ['postgres://u@db/x?sslmode=require', { tlsMode: 'require' }],
    ['postgres://u@db/x?ssl=true', { tlsMode: 'verify-full' }],
    [
      'postgres://u@db/x?sslmode=verify-ca&sslrootcert=/c.pem&sslcert=/a&sslkey=/k',
      { tlsMode: 'verify-ca', rootCertFile: '/c.pem', certFile: '/a', keyFile: '/k' },
    ],
  ])('%s', (url, expected) => {
    expect(read(url)).toMatchObject(expected)
  })

  it.each([
    'mysql://u:s3cret@db/x',
    'u:s3cret@db/x',
    'postgres://u:s3cret@db:0/x',
    'postgres://u:s3cret@a:1,b:2/x',
    'postgres://u:s3cret%@db/x',
    'postgres://u:s3#cret@db/x',
    // Digits pass for a port, and the rest for a database or a parameter.
    'postgres://u:12/s3cret@db/x',
    'postgres://u:12?s3cret@db/x',
    'postgres://u:12?x=s3cret@db/x',
    'postgres://u:s3cret%00@db/x',
    'postgres://u:s3cret@db/x%00',
    'postgres://u:s3cret@db/x?sslmode=prefer',
    'postgres://u:s3cret@db/x?sslmode=Require',
    'postgres://u:s3cret@db/x?ssl=maybe',
  ])('%s is refused and not repeated', (url) => {
    const problems = problemsOf({ DATABASE_URL: url })
    expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL: got a value of [0-9]+ char/)])
    expect(problems.join()).not.toMatch(/s3|cret/)
  })

  it('warns of a connection that others can read or answer, and of parameters without effect', () => {
    const warnings = (url: string) => warningsOf({ DATABASE_URL: url })
    expect(warnings('postgres://u:s3cret@db/x')).toEqual([
      'DATABASE_URL: the connection is not encrypted; add sslmode=verify-full',
    ])
    expect(warnings('postgres://u:s3cret@db/x?sslmode=require&pgbouncer=true')).toEqual([
      'DATABASE_URL: its parameter pgbouncer is ignored',
      'DATABASE_URL: sslmode=require believes any certificate; use verify-full',
    ])
    for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Ftmp']) {
      expect(warnings(`postgres://u@${host}/x`)).toEqual([])
    }
  })
})

describe('the other settings of the database', () => {
  it('have bounded waits and a pool that every lane fits into', () => {
    expect(problemsOf({ DATABASE_CONNECT_TIMEOUT: '0' })).toHaveLength(1)
    expect(problemsOf({ DATABASE_STATEMENT_TIMEOUT: '11m' })).toHaveLength(1)
    expect(problemsOf({ DATABASE_POOL_SIZE: '3' })).toHaveLength(1)
    expect(loadConfig({}).database).toEqual({
      ...{ url: undefined, listenUrl: undefined, pooler: false, poolSize: 10 },
      ...{ connectTimeoutMs: 5000, statementTimeoutMs: 30_000 },
      ...{ spillDir: '', spillMaxBytes: 1_073_741_824 },
    })
  })

  it('a pooler without a way past it is warned about', () => {
    const url = 'postgres://u@localhost/x'
    const pooled = { DATABASE_URL: url, DATABASE_POOLER: 'true' }
    expect(warningsOf(pooled)).toEqual([expect.stringMatching(/^DATABASE_LISTEN_URL: without it/)])
    expect(warningsOf({ ...pooled, DATABASE_LISTEN_URL: url })).toEqual([])
    const spill = { OUTAGE_SPILL_DIR: '/spill' }
    expect(warningsOf(spill)).toEqual([expect.stringMatching(/^OUTAGE_SPILL_DIR: without/)])
    expect(warningsOf({ ...spill, DATABASE_URL: url })).toEqual([])
  })
})
