import { once } from 'node:events'
import https from 'node:https'
import tls from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createListener, type Listener, renewCertificate } from '../../src/http/index.ts'
import { portOf, strictApp } from '../support/express-app.ts'
import { certificatePem, edKey, type KeyFixture, rsaKey } from '../support/keys.ts'
import { rawBytes } from '../support/raw-request.ts'

const certificates = new Map<KeyFixture, string>()

/** The one certificate of a key; each call of the fixture would make another. */
function certificateOf(key: KeyFixture): string {
  const cert = certificates.get(key) ?? certificatePem(key)
  certificates.set(key, cert)
  return cert
}

const filesOf = (key: KeyFixture) => ({ cert: certificateOf(key), key: key.privatePem })

async function listen(key: KeyFixture): Promise<{ server: Listener; port: number }> {
  const app = strictApp()
  app.get('/scheme', (req, res) => {
    res.end(req.protocol)
  })
  app.get('/stream', (_req, res) => {
    res.write('first')
    app.once('more', () => res.end('second'))
  })
  app.get('/more', (_req, res) => {
    app.emit('more')
    res.end()
  })
  const server = createListener(app, {}, filesOf(key))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: portOf(server) }
}

/** Asks once, trusting only this key's certificate. */
async function ask(port: number, path: string, trusted: KeyFixture): Promise<string> {
  const options = { host: '127.0.0.1', port, path, ca: certificateOf(trusted), agent: false }
  const request = https.get(options)
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

describe('the TLS listener', () => {
  it('speaks HTTPS, and requests over it are secure', async () => {
    const { port } = await listen(rsaKey())
    expect(await ask(port, '/scheme', rsaKey())).toBe('https')
  })

  it('speaks nothing else', async () => {
    const { port } = await listen(rsaKey())
    const answer = await rawBytes(port, 'GET /scheme HTTP/1.1\r\nHost: x\r\n\r\n').catch(
      () => undefined,
    )
    expect(answer?.body ?? '').not.toContain('http')
    expect(answer?.status ?? 0).not.toBe(200)
  })

  it('takes a new certificate without dropping an open stream', async () => {
    const [before, after] = [rsaKey(), edKey()]
    const { server, port } = await listen(before)
    const options = {
      host: '127.0.0.1',
      port,
      path: '/stream',
      ca: certificateOf(before),
      agent: false,
    }
    const [response] = await once(https.get(options), 'response')
    const chunks = response[Symbol.asyncIterator]()
    expect(String((await chunks.next()).value)).toBe('first')
    renewCertificate(server, filesOf(after))
    await expect(ask(port, '/scheme', before)).rejects.toThrow()
    expect(await ask(port, '/more', after)).toBe('')
    expect(String((await chunks.next()).value)).toBe('second')
  })

  it('keeps its certificate when the new one cannot be used', async () => {
    const { server, port } = await listen(rsaKey())
    const mixed = { cert: certificateOf(rsaKey()), key: rsaKey('another').privatePem }
    expect(() => renewCertificate(server, mixed)).toThrow()
    expect(await ask(port, '/scheme', rsaKey())).toBe('https')
  })

  it('refuses a client that is too old for TLS 1.2', async () => {
    const { port } = await listen(rsaKey())
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      rejectUnauthorized: false,
    })
    await expect(once(socket, 'secureConnect')).rejects.toThrow()
  })
})
