import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HUB_VARIABLES } from '../../src/config/hub-variables.ts'
import { loadHubConfig } from '../../src/config/index.ts'
import { type ChildBroker, startChildBroker } from '../support/child-broker.ts'
import { form } from '../support/hub/hub.ts'
import { bearer } from '../support/hub/tokens.ts'
import { certificatePem, rsaKey } from '../support/keys.ts'
import { dropStore } from '../support/test-store.ts'
import { mint } from '../support/tokens.ts'
import {
  ACCESS_TOKEN,
  CURL_ALTERNATES,
  CURL_PER_USER,
  documentsOf,
  PAYLOADS,
  PER_USER,
  PUBLISHERS,
  SUBSCRIBERS,
} from './hub-seed-examples.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const HIVEGATE = `"${process.execPath}" "${ROOT}bin/hivegate.js"`
const DEV_SECRET = '!ChangeThisMercureHubJWTSecretKey!'
const run = promisify(execFile)
const page = await readFile(join(ROOT, 'docs/hub.md'), 'utf8')

/** The code of the block with this info string. */
function block(info: string): string {
  const found = new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1]
  if (found === undefined) throw new Error(`the page has no block ${info}`)
  return found
}

let dir = ''
let broker: ChildBroker
let hub = ''
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hivegate-hub-page-'))
  const files = { TLS_CERT_FILE: join(dir, 'cert.pem'), TLS_KEY_FILE: join(dir, 'key.pem') }
  writeFileSync(files.TLS_CERT_FILE, certificatePem(rsaKey()))
  writeFileSync(files.TLS_KEY_FILE, rsaKey().privatePem)
  broker = await startChildBroker({ DATA_DIR: join(dir, 'data'), MERCURE_DEV: 'true', ...files })
  hub = `https://127.0.0.1:${broker.port}/.well-known/mercure`
})
afterAll(async () => {
  broker?.signal('SIGTERM')
  await broker?.exited
  await dropStore(join(dir, 'data'))
  await rm(dir, { recursive: true, force: true })
})

const environment = (jwt = '') => ({ PATH: process.env['PATH'] ?? '', HUB: hub, JWT: jwt })

/**
 * Reads no start-up files. Without the switch bash takes the socket that is its input for a remote login, and runs
 * the `.bashrc` of whoever runs the tests before every example: seconds each on a busy machine.
 */
const BASH = ['--norc', '-c']

/** Runs shell lines as a reader would. */
async function shell(code: string, jwt?: string): Promise<string> {
  const npx = `npx() { shift; ${HIVEGATE} "$@"; }`
  const script = `set -euo pipefail\n${npx}\ncurl() { command curl -s -k "$@"; }\n${code}`
  const options = { cwd: dir, env: environment(jwt), timeout: 60_000 }
  return (await run('bash', [...BASH, script], options)).stdout
}

let minted: Promise<string> | undefined
/** The token of the quick start; a process that mints is slow to start, so all examples share one. */
async function devToken(): Promise<string> {
  minted ??= shell('npx hivegate mercure-token --dev')
  return (await minted).trim()
}

/** A token for the development hub with the details of an example. */
function tokenWith(details: unknown): string {
  return mint({
    key: DEV_SECRET,
    header: { typ: 'at+jwt' },
    claims: {
      iss: 'https://localhost',
      aud: 'https://localhost/.well-known/mercure',
      exp: 4_102_444_800,
      role: undefined,
      authorization_details: details,
    },
  })
}

const detailsOf = (example: string) => documentsOf(example).at(-1)?.['authorization_details']

/** Publishes to the development hub with curl; the status is what counts. */
async function publishStatus(topics: readonly string[], token: string): Promise<string> {
  const fields = topics.map((topic) => `--data-urlencode 'topic=${topic}'`).join(' ')
  const code = `curl -o /dev/null -w '%{http_code}' "$HUB" -H "Authorization: Bearer $JWT" ${fields}`
  return shell(code, token)
}

/** Follows topics with curl; gives the ids of the first events. */
async function idsOf(query: string, token: string, act: () => Promise<unknown>, last: string) {
  const header = `Authorization: Bearer ${token}`
  const child = spawn('curl', ['-skN', `${hub}?${query}`, '-H', header])
  let text = ''
  const until = (part: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (text.includes(part)) resolve()
      }
      child.stdout.on('data', look)
      look()
    })
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk
  })
  await until(':\n')
  await act()
  await until(`id: ${last}\n`)
  child.kill()
  await once(child, 'close')
  return [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
}

describe('the examples of the authorization page', () => {
  it('the access token is accepted when its issuer, audience and key are configured', async () => {
    const [header, payload] = documentsOf(ACCESS_TOKEN)
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    const details = payload?.['authorization_details']
    expect(await publishStatus(['https://example.com/anything'], tokenWith(details))).toBe('200')
  })

  it('publishers: every topic has to be covered', async () => {
    const token = tokenWith(detailsOf(PUBLISHERS))
    const status = (...topics: string[]) => publishStatus(topics, token)
    expect(await status('https://example.com/books/1')).toBe('200')
    expect(await status('https://example.com/announcements', 'https://example.com/books/2')).toBe(
      '200',
    )
    expect(await status('https://example.com/books/1', 'https://example.com/other')).toBe('403')
  })

  it('subscribers and per-user grants: a named group stops at a slash, unlike the page says', async () => {
    const all = tokenWith([
      {
        type: 'https://mercure.rocks/authorization-detail',
        actions: ['publish'],
        topics: [{ match: '*' }],
      },
    ])
    for (const example of [SUBSCRIBERS, PER_USER]) {
      const token = tokenWith(detailsOf(example))
      const publish = (topic: string, id: string) =>
        shell(
          `curl "$HUB" -H "Authorization: Bearer $JWT" -d 'topic=${topic}' -d private=on -d id=${id}`,
          all,
        )
      const act = async () => {
        await publish('https://example.com/users/42/messages/1', 'below')
        await publish('https://example.com/users/99/messages', 'foreign')
        await publish('https://example.com/users/42/messages', 'own')
      }
      expect(await idsOf('match=*', token, act, 'own')).toEqual(['own'])
    }
  })

  it('payloads: the first matching detail gives its own', async () => {
    const token = tokenWith(detailsOf(PAYLOADS))
    const query = 'match=https://example.com/users/42&match=https://example.com/books/7&match=end'
    const all = tokenWith([
      {
        type: 'https://mercure.rocks/authorization-detail',
        actions: ['publish', 'subscribe'],
        topics: [{ match: '*' }],
      },
    ])
    let listed = ''
    const act = async () => {
      listed = await shell('curl "$HUB/subscriptions" -H "Authorization: Bearer $JWT"', all)
      await shell(`curl "$HUB" -H "Authorization: Bearer $JWT" -d topic=end -d id=end`, all)
    }
    await idsOf(query, token, act, 'end')
    const { subscriptions }: { subscriptions: { match: string; payload?: unknown }[] } =
      JSON.parse(listed)
    const payloads = new Map(subscriptions.map(({ match, payload }) => [match, payload]))
    expect(payloads.get('https://example.com/users/42')).toEqual({
      username: 'alice',
      ip: '10.0.0.1',
    })
    expect(payloads.get('https://example.com/books/7')).toEqual({ username: 'alice' })
    expect(payloads.get('end')).toBeUndefined()
  })

  it('the shell examples publish private updates', async () => {
    const jwt = await devToken()
    for (const code of [
      CURL_PER_USER,
      CURL_ALTERNATES,
      block('sh example=per-user'),
      block('sh example=alternates'),
    ]) {
      expect(await shell(code, jwt)).toMatch(/^urn:uuid:[0-9a-f-]{36}$/)
    }
  })
})

describe('the page of the hub', () => {
  it('quick start: what is published arrives', async () => {
    const jwt = await devToken()
    const child = spawn('bash', [...BASH, block('sh example=subscribe')], {
      env: environment(),
      detached: true,
    })
    let text = ''
    const arrived = new Promise<void>((resolve) => {
      child.stdout.on('data', async (chunk: Buffer) => {
        if (text === '') await shell(block('sh example=publish'), jwt)
        text += chunk
        if (text.includes('data: {"status": "available"}\n\n')) resolve()
      })
    })
    await arrived
    process.kill(-(child.pid ?? 0))
    await once(child, 'close')
  })

  it('its token is one that the hub accepts', async () => {
    const { authorization_details: details } = JSON.parse(block('json token'))
    expect(JSON.parse(block('json header'))).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    expect(await publishStatus(['https://example.com/x'], tokenWith(details))).toBe('200')
  })

  it('its mint command mints what it says', async () => {
    const keyFile = join(dir, 'hub-key')
    writeFileSync(keyFile, `${DEV_SECRET}\n`)
    const [, command = ''] = /(npx hivegate mercure-token \\\n[\s\S]*?)```/.exec(page) ?? []
    const token = await shell(command.replace('/run/secrets/hub-key', keyFile))
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({
      iss: 'https://example.com',
      aud: 'https://hub.example.com/.well-known/mercure',
      authorization_details: [
        { actions: ['publish'], topics: [{ match: 'https://example.com/books/1' }] },
        {
          actions: ['subscribe'],
          topics: [
            { match: 'https://example.com/users/42/notifications' },
            { match: 'https://example.com/books/:id', match_type: 'urlpattern' },
          ],
          payload: { user: 'https://example.com/users/42' },
        },
      ],
    })
  })

  it('its issuers file is accepted', () => {
    const file = join(dir, 'issuers.json')
    writeFileSync(file, block('json issuers'))
    const { issuers } = loadHubConfig({ MERCURE_ISSUERS_FILE: file })
    expect(issuers.map(({ issuer }) => issuer)).toEqual([
      'https://app.example.com',
      'https://idp.example.com',
    ])
  })

  it('names every setting of the hub and of the listener', () => {
    const names = Object.values(HUB_VARIABLES).map(({ name }) => name)
    for (const name of [...names, 'TLS_CERT_FILE', 'TLS_KEY_FILE', 'TRUST_PROXY']) {
      expect(page).toContain(`\`${name}\``)
    }
  })

  it('row 67: its app names hub and topic, and its last-event-id closes the gap', async () => {
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
    const file = join(dir, 'app.mjs')
    const source = pathToFileURL(join(ROOT, 'src/hub/index.ts')).href
    const code = block('js example=mount').replace("'hivegate/hub'", `'${source}'`)
    const tell = `server.on('listening', () => console.log(server.address().port))`
    writeFileSync(file, `${code}\n${tell}\n`)
    const env = { PORT: '0', MERCURE_DEV: 'true' }
    const child = spawn(process.execPath, [file], { cwd: dir, env })
    const [line] = await once(child.stdout, 'data')
    const origin = `http://127.0.0.1:${String(line).trim()}`
    const resource = await fetch(`${origin}/books/1`)
    expect(resource.headers.get('link')).toBe(
      '</.well-known/mercure>; rel="mercure"; last-event-id="earliest", <https://example.com/books/1>; rel="self"',
    )
    const token = tokenWith([
      {
        type: 'https://mercure.rocks/authorization-detail',
        actions: ['publish'],
        topics: [{ match: '*' }],
      },
    ])
    const body = form({ topic: 'https://example.com/books/1', id: 'urn:x:1' })
    const url = `${origin}/.well-known/mercure`
    expect((await fetch(url, { method: 'POST', headers: bearer(token), body })).status).toBe(200)
    const later = await fetch(`${origin}/books/1`)
    expect(later.headers.get('link')).toContain('last-event-id="urn:x:1"')
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  })
})
