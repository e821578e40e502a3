import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSubscriberTokenIssuer } from '../../src/issuer/index.ts'
// The small certificate writer of the tests; a real app has a certificate.
import { selfSignedCertificate } from '../../test/support/certificate.ts'
import { startBrokerProcess } from '../broker-process.ts'
import { tripsApp } from './app.ts'
import { publishPrivately } from './publisher.ts'

/** How the example runs. */
export interface TripsSetup {
  /** Port of the app; default a free one. */
  readonly port?: number
  /** Lifetime of a subscriber token in seconds; default one hour. */
  readonly ttlSeconds?: number
  readonly steps?: number
  /** Resolves when a step is worked out; default: after a second. */
  readonly work?: (step: number) => Promise<void>
}

/** App and broker, running. */
export interface RunningTrips {
  readonly appUrl: string
  readonly hubUrl: string
  /** The certificate that clients have to trust. */
  readonly ca: string
  /** Everything that the broker has logged. */
  brokerLog(): string
  stop(): Promise<void>
}

const STEP_MS = 1000

/** What `aud` says; one fixed value, whatever port the broker gets. */
const HUB_PATH = '/.well-known/mercure'
const AUDIENCE = `https://localhost${HUB_PATH}`

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      // A listening TCP server has an address with a port.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** A key and a certificate for localhost, also as files for the broker. */
function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'hivegate-trips-'))
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const cert = selfSignedCertificate(privateKey, publicKey)
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  return { cert, key, files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * Starts the app and, next to it, a broker whose hub trusts the app as its one issuer: one key to publish, another
 * to subscribe. App and hub share the host localhost, so the cookie that the app sets reaches the hub.
 */
export async function startTrips(setup: TripsSetup = {}): Promise<RunningTrips> {
  const { port = 0, ttlSeconds = 3600, steps = 10, work = () => sleep(STEP_MS) } = setup
  const { cert: ca, key, files, remove } = makeCertificate()
  const publisherKey = randomBytes(32).toString('hex')
  const subscriberKey = randomBytes(32).toString('hex')
  const server = createServer({ cert: ca, key })
  const appUrl = `https://localhost:${await listen(server, port)}`
  const broker = await startBrokerProcess({
    TLS_CERT_FILE: files.cert,
    TLS_KEY_FILE: files.key,
    MERCURE_ISSUER: appUrl,
    MERCURE_PUBLISHER_JWT_KEY: publisherKey,
    MERCURE_SUBSCRIBER_JWT_KEY: subscriberKey,
    MERCURE_RESOURCE_IDENTIFIER: AUDIENCE,
    MERCURE_CORS_ORIGINS: appUrl,
  })
  const hubUrl = `https://localhost:${broker.port}${HUB_PATH}`
  const names = { issuer: appUrl, audience: AUDIENCE }
  const issuer = createSubscriberTokenIssuer({ ...names, key: subscriberKey, alg: 'HS256' })
  const publish = (topic: string, data: unknown) =>
    publishPrivately({ ...names, hubUrl, key: publisherKey, ca }, topic, data)
  server.on('request', tripsApp({ issuer, hubUrl: () => hubUrl, publish, ttlSeconds, steps, work }))
  return {
    appUrl,
    hubUrl,
    ca,
    brokerLog: broker.log,
    async stop() {
      server.close()
      server.closeAllConnections()
      await broker.stop()
      remove()
    },
  }
}
