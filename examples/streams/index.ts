/**
 * `npm run example:streams`: a camera publishes frames of its herd on the event hub, a viewer of the same herd
 * receives them, and neither may touch another herd. Both get their tokens from the mint endpoint through
 * `@supabase/supabase-js`: the camera as a device, the viewer as a user.
 */
import { randomBytes } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { createParser } from 'eventsource-parser'
import { SignJWT } from 'jose'
import { generateSigningJwk } from '../../src/keys/index.ts'
import { startBrokerProcess } from '../broker-process.ts'

const FRAMES = 3
const authSecret = randomBytes(32).toString('hex')
const sessionSecret = randomBytes(32).toString('hex')
const signed = (secret: string, claims: Record<string, unknown>) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(secret))

const broker = await startBrokerProcess({
  JWT_ENABLED: 'true',
  JWT_SECRET: authSecret,
  PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(generateSigningJwk('ES256')),
  PUBSUB_SESSION_JWT_SECRET: sessionSecret,
  PUBSUB_HUB: 'true',
  // For this example alone: tokens belong on HTTPS.
  MERCURE_ALLOW_INSECURE_HTTP: 'true',
})
const url = `http://127.0.0.1:${broker.port}`
const hub = `${url}/.well-known/mercure`

/** One call of the administration, which needs the admin level. */
async function admin(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${url}/api/v1/system/pubsub${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await signed(authSecret, { role: 'admin' })}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.status === 204 ? undefined : answer.json()
}

/** Mints through the client library, exactly as against a hosted project. */
async function mintAs(key: string, session?: string): Promise<string> {
  const client = createClient(url, key, session ? { accessToken: async () => session } : {})
  const { data, error } = await client.functions.invoke('mint-pubsub-token')
  if (error) throw error
  console.log(
    `minted: put ${JSON.stringify(data.claims.put)}, get ${JSON.stringify(data.claims.get)}`,
  )
  return data.token
}

async function publish(token: string, topic: string, data: string): Promise<number> {
  const answer = await fetch(hub, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ topic, data, private: 'on' }),
  })
  return answer.status
}

/** Receives `count` updates of a topic and calls back when the stream is open. */
async function receive(token: string, topic: string, count: number, onOpen: () => Promise<void>) {
  const stop = new AbortController()
  const answer = await fetch(`${hub}?match=${encodeURIComponent(topic)}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  if (!answer.ok || !answer.body) throw new Error(`the hub answered ${answer.status}`)
  const received: string[] = []
  const parser = createParser({ onEvent: (event) => void received.push(event.data) })
  const opened = onOpen()
  const decoder = new TextDecoder()
  for await (const chunk of answer.body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (received.length >= count) break
  }
  stop.abort()
  await opened
  return received
}

try {
  await admin('POST', '/herds', { id: 'north-farm' })
  const device = await admin('POST', '/devices', { herd_id: 'north-farm', name: 'gate camera' })
  await admin('PUT', '/users/ada/herds/north-farm/realtime_streams.read')
  // The answer of POST /devices holds the api key, this once.
  const { api_key: apiKey } = device as { api_key: string }

  const camera = await mintAs(apiKey)
  const viewer = await mintAs('publishable-key', await signed(sessionSecret, { sub: 'ada' }))
  const topic = 'north-farm/gate/frames'
  const frames = await receive(viewer, topic, FRAMES, async () => {
    for (let frame = 1; frame <= FRAMES; frame += 1) await publish(camera, topic, `frame ${frame}`)
  })
  console.log(`the viewer received: ${frames.join(', ')}`)
  console.log(`the camera publishes on south-farm: ${await publish(camera, 'south-farm/x', 'no')}`)
  console.log(`the viewer publishes on north-farm: ${await publish(viewer, topic, 'no')}`)
} finally {
  await broker.stop()
}
