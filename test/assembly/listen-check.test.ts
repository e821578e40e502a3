import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ListenCheck } from '../../src/assembly/listen-check.ts'
import { PG_MODULES } from '../../src/assembly/postgres.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/index.ts'
import { openPostgresHost } from '../../src/storage/index.ts'
import { freePort } from '../support/postgres/cluster.ts'
import { createDatabase, type TestDatabase, urlOf } from '../support/postgres.ts'
import { until } from '../support/traffic.ts'

let database: TestDatabase
let other: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
  other = await createDatabase()
})
afterAll(async () => {
  await database.drop()
  await other.drop()
})

/** A way to the server of `to` that can be opened, and cut. */
async function wayTo(to: TestDatabase, port: number): Promise<Server> {
  const server = createServer((socket) => {
    const upstream = connect(to.target.port, to.target.host)
    for (const one of [socket, upstream]) one.on('error', () => one.destroy())
    socket.pipe(upstream).pipe(socket)
    socket.on('close', () => upstream.destroy())
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return server
}

/** Opens a host that listens on another way, and checks it. */
async function checked(listening: TestDatabase, port: number, withinMs: number) {
  const lines: { level: string; msg: string }[] = []
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) })
  const listenTarget = { ...listening.target, port }
  const urls = { DATABASE_URL: database.url, DATABASE_LISTEN_URL: urlOf(listenTarget) }
  const { url, listenUrl } = loadConfig(urls).database
  if (url === undefined || listenUrl === undefined) throw new Error('no URL')
  let check: ListenCheck | undefined
  const host = await openPostgresHost({
    ...{ target: database.target, listenTarget, modules: PG_MODULES },
    onConnectionError: (error, connection) => connection === 'listen' && check?.lost(error),
  })
  check = new ListenCheck(host, { url, listenUrl, log, withinMs })
  const opened = await check.proven()
  onTestFinished(() => opened.close())
  return { opened, lines }
}

test('a way to the same database is taken without a word', async () => {
  const { lines } = await checked(database, database.target.port, 60_000)
  expect(lines).toEqual([])
})

test('a way to another database of the server ends the start', async () => {
  await expect(checked(other, other.target.port, 300)).rejects.toThrow(
    /^DATABASE_LISTEN_URL: \S+ does not hear what is notified through DATABASE_URL \(\S+\); it has to lead/,
  )
})

test('a way that is closed is warned about, and checked when it opens', async () => {
  const port = await freePort()
  const right = await checked(database, port, 60_000)
  expect(right.lines).toMatchObject([
    { level: 'warn', msg: expect.stringContaining('cannot be reached') },
  ])
  const wrong = await checked(other, port, 300)
  expect(wrong.lines).toMatchObject([{ level: 'warn' }])
  await wayTo(database, port)
  await until(
    async () => wrong.lines,
    (lines) => lines.length > 1,
  )
  expect(wrong.lines[1]).toMatchObject({
    level: 'error',
    msg: expect.stringContaining('does not hear'),
  })
  const heard = Promise.withResolvers<string>()
  const ready = Promise.withResolvers<void>()
  right.opened.listen('t', { heard: heard.resolve, restored: ready.resolve })
  await ready.promise
  await right.opened.notify('t', 'here')
  expect(await heard.promise).toBe('here')
  expect(right.lines).toHaveLength(1)
})
