import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import https from 'node:https'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTestBroker } from '../../support/broker.ts'
import { runHivegate } from '../../support/child-broker.ts'
import { childHub, HUB_ON } from '../../support/hub/broker.ts'
import { temporaryFolder } from '../../support/hub/hub.ts'
import { certificateFiles } from '../../support/hub/tls.ts'
import { bearer, publisherToken, subscriberToken } from '../../support/hub/tokens.ts'
import { edKey } from '../../support/keys.ts'

const HUB = '/.well-known/mercure'
const SECURE = { ...HUB_ON, MERCURE_ALLOW_INSECURE_HTTP: 'false' }

interface Call {
  readonly port: number
  readonly ca: string
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends one request over TLS and gives the response, its body still to be read. */
async function send({ port, ca, path, method = 'GET', headers = {}, body = '' }: Call) {
  const options = { host: '127.0.0.1', port, ca, path, method, headers, agent: false }
  const request = https.request(options)
  request.on('error', () => {})
  request.end(body)
  const [response] = await once(request, 'response')
  onTestFinished(() => void request.destroy())
  return response
}

async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

const publishOver = (port: number, ca: string, body: string) =>
  send({
    port,
    ca,
    path: HUB,
    method: 'POST',
    headers: { ...bearer(publisherToken()), 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
  })

describe('the hub over TLS', () => {
  it('takes tokens by header and by the __Secure- cookie, and derives an https identity', async () => {
    const files = certificateFiles()
    const env = { ...SECURE, MERCURE_RESOURCE_IDENTIFIER: '', ...files.env }
    const broker = await startTestBroker(env)
    onTestFinished(() => broker.stop())
    const call = { port: broker.port, ca: files.cert }
    const metadata = await send({ ...call, path: `/.well-known/oauth-protected-resource${HUB}` })
    const aud = `https://127.0.0.1:${broker.port}${HUB}`
    expect(JSON.parse(await textOf(metadata)).resource).toBe(aud)
    const token = subscriberToken(['*'], { aud })
    for (const headers of [bearer(token), { Cookie: `__Secure-mercure_access_token=${token}` }]) {
      const { statusCode } = await send({
        ...call,
        method: 'HEAD',
        path: `${HUB}?match=a`,
        headers,
      })
      expect(statusCode).toBe(200)
    }
  })

  it('SIGHUP reads the certificate again without dropping an open stream', async () => {
    const files = certificateFiles()
    const broker = await childHub({ MERCURE_ALLOW_INSECURE_HTTP: 'false', ...files.env })
    const { port } = broker
    const headers = bearer(subscriberToken())
    const stream = await send({ port, ca: files.cert, path: `${HUB}?match=a`, headers })
    let received = ''
    stream.on('data', (chunk: Buffer) => {
      received += chunk
    })
    const cert = files.replace(edKey())
    broker.signal('SIGHUP')
    await vi.waitFor(() => expect(broker.output()).toContain('certificate read again'), 30_000)
    await expect(publishOver(port, files.cert, 'topic=a&id=old')).rejects.toThrow()
    expect((await publishOver(port, cert, 'topic=a&id=new')).statusCode).toBe(200)
    await vi.waitFor(() => expect(received).toContain('id: new'), 30_000)
  })

  it('keeps the certificate when the files cannot be used, and says so', async () => {
    const files = certificateFiles()
    const broker = await startTestBroker({ ...SECURE, ...files.env })
    onTestFinished(() => broker.stop())
    writeFileSync(files.env.TLS_KEY_FILE, 'nonsense')
    broker.broker.reloadCertificate()
    expect(broker.lines.join('')).toContain('certificate not read again')
    expect((await publishOver(broker.port, files.cert, 'topic=a')).statusCode).toBe(200)
  })

  it.each([
    [
      'a file that is not there',
      { TLS_CERT_FILE: '/nowhere/cert.pem' },
      /^TLS_CERT_FILE: "\/nowhere\/cert.pem" cannot be read \(ENOENT\)/,
    ],
    [
      'one file without the other',
      { TLS_KEY_FILE: '' },
      /^TLS_KEY_FILE: has to be set together with TLS_CERT_FILE/,
    ],
    [
      'a key of another certificate',
      { TLS_KEY_FILE: 'other' },
      /^TLS_CERT_FILE, TLS_KEY_FILE: not a certificate and its private key/,
    ],
  ])('does not start with %s', async (_name, change, message) => {
    const files = certificateFiles()
    const other = certificateFiles(edKey()).env.TLS_KEY_FILE
    const changed =
      'TLS_KEY_FILE' in change && change.TLS_KEY_FILE === 'other' ? { TLS_KEY_FILE: other } : change
    const env = { ...SECURE, ...files.env, ...changed, DATA_DIR: temporaryFolder(), PORT: '0' }
    const { code, stderr } = await runHivegate(['serve'], env)
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  })
})
