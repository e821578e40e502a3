import { onTestFinished } from 'vitest'
import { type ChildBroker, startChildBroker } from '../child-broker.ts'
import { dropStore } from '../test-store.ts'
import { HUB_ID, ISSUER, PUBLISHER_KEY, SUBSCRIBER_KEY } from './config.ts'
import { form, type PublishFields, temporaryFolder } from './hub.ts'
import { type OpenStream, readStream } from './stream.ts'
import { bearer, publisherToken } from './tokens.ts'

/** The environment of a broker whose hub has the set-up of the protocol's checklist. */
export const HUB_ON: Readonly<Record<string, string>> = {
  MERCURE_ISSUER: ISSUER,
  MERCURE_PUBLISHER_JWT_KEY: PUBLISHER_KEY,
  MERCURE_SUBSCRIBER_JWT_KEY: SUBSCRIBER_KEY,
  MERCURE_RESOURCE_IDENTIFIER: HUB_ID,
  MERCURE_ALLOW_INSECURE_HTTP: 'true',
  MERCURE_ANONYMOUS: 'true',
}

/** The hub URL of a broker. */
export function hubUrl({ url }: { readonly url: string }): string {
  return `${url}/.well-known/mercure`
}

/** A broker in a process of its own, killed when the test is finished. */
export async function childHub(
  env: Readonly<Record<string, string>> = {},
  dataDir = temporaryFolder(),
): Promise<ChildBroker & { readonly dataDir: string }> {
  const broker = await startChildBroker({ ...HUB_ON, DATA_DIR: dataDir, ...env })
  onTestFinished(async () => {
    broker.signal('SIGKILL')
    await broker.exited
    await dropStore(dataDir)
  })
  return { ...broker, dataDir }
}

/** Publishes through a broker. */
export function publishTo(
  broker: { readonly url: string },
  fields: PublishFields,
  token = publisherToken(),
): Promise<Response> {
  const headers = bearer(token)
  return fetch(hubUrl(broker), { method: 'POST', headers, body: form(fields) })
}

/** Opens a stream of a broker. */
export async function subscribeTo(
  broker: { readonly url: string },
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const controller = new AbortController()
  const close = () => controller.abort()
  onTestFinished(close)
  const response = await fetch(`${hubUrl(broker)}?${query}`, { headers, signal: controller.signal })
  return readStream(response, close)
}
