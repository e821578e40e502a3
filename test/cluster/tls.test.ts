import { generateKeyPairSync } from 'node:crypto'
import { chmod, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestBroker } from '../support/broker.ts'
import { selfSignedCertificate } from '../support/certificate.ts'
import {
  type ClusterAddress,
  removeCluster,
  serverFolder,
  startCluster,
} from '../support/postgres/cluster.ts'
import { createDatabase, queryOn, urlOf } from '../support/postgres.ts'

let folder = ''
let cluster: ClusterAddress
beforeAll(async () => {
  folder = await serverFolder()
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { uid, gid } = await stat(folder)
  const files = {
    'server.crt': selfSignedCertificate(privateKey, publicKey),
    'server.key': privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text)
    await chown(join(folder, name), uid, gid)
    await chmod(join(folder, name), name === 'server.key' ? 0o600 : 0o644)
  }
  const place = (name: string) => `'${join(folder, name)}'`
  const ssl = `ssl = on\nssl_cert_file = ${place('server.crt')}\nssl_key_file = ${place('server.key')}\n`
  cluster = await startCluster(folder, ssl)
})
afterAll(() => removeCluster(folder))

/** Starts a broker and says how its connections look to the server. */
async function connectionsWith(parameters: string, host = '127.0.0.1'): Promise<unknown> {
  const { target } = await createDatabase(cluster)
  const url = `${urlOf({ ...target, host })}?${parameters}`
  const broker = await startTestBroker({ DATABASE_URL: url })
  const sql = `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name LIKE 'hivegate%' AND datname = $1`
  const seen = await queryOn(target, sql, [target.database])
  await broker.stop()
  return seen.map(({ ssl }) => ssl)
}

test('verify-full takes a certificate of its authority for its host, on every connection', async () => {
  const root = `sslrootcert=${encodeURIComponent(join(folder, 'server.crt'))}`
  expect(await connectionsWith(`sslmode=verify-full&${root}`, 'localhost')).toEqual([true])
})

test('verify-full refuses a certificate of nobody’s, in one line that names DATABASE_URL', async () => {
  await expect(connectionsWith('sslmode=verify-full')).rejects.toThrow(
    /^DATABASE_URL: the database .* cannot be used \(self-signed certificate/,
  )
})

test('verify-full refuses another host’s certificate; verify-ca does not ask', async () => {
  const root = `sslrootcert=${encodeURIComponent(join(folder, 'server.crt'))}`
  const other = '127.0.0.2'
  await expect(connectionsWith(`sslmode=verify-full&${root}`, other)).rejects.toThrow(
    /^DATABASE_URL: .*altnames/,
  )
  expect(await connectionsWith(`sslmode=verify-ca&${root}`, other)).toEqual([true])
})

test('require encrypts without asking whose certificate it is; without sslmode nothing is', async () => {
  expect(await connectionsWith('sslmode=require')).toEqual([true])
  expect(await connectionsWith('')).toEqual([false])
})
