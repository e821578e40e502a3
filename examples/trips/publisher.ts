import { readSecret } from '../../src/keys/index.ts'
import { mintToken } from '../../src/tokens/index.ts'
import { send, textOf } from './https.ts'

/** How the app publishes on the hub. */
export interface PublisherOptions {
  readonly hubUrl: string
  readonly issuer: string
  readonly audience: string
  /** The hub's publisher key (HS256). */
  readonly key: string
  readonly ca: string
}

const MINUTE_S = 60

/** A token that may publish on trips and nothing else; made for each update, so that it can be short-lived. */
function publisherToken({ issuer, audience, key }: PublisherOptions): Promise<string> {
  const iat = Math.floor(Date.now() / 1000)
  const topics = [{ match: '/trips/:id', match_type: 'urlpattern' }]
  const type = 'https://mercure.rocks/authorization-detail'
  return mintToken({
    alg: 'HS256',
    key: readSecret(key),
    typ: 'at+jwt',
    claims: {
      iss: issuer,
      aud: audience,
      sub: issuer,
      client_id: issuer,
      iat,
      exp: iat + MINUTE_S,
      authorization_details: [{ type, actions: ['publish'], topics }],
    },
  })
}

/** Publishes one private update: only bearers of a token for the topic receive it. */
export async function publishPrivately(
  options: PublisherOptions,
  topic: string,
  data: unknown,
): Promise<void> {
  const body = new URLSearchParams({ topic, data: JSON.stringify(data), private: 'on' })
  const answer = await send({
    url: options.hubUrl,
    ca: options.ca,
    method: 'POST',
    headers: {
      authorization: `Bearer ${await publisherToken(options)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: body.toString(),
  })
  const text = await textOf(answer)
  if (answer.statusCode !== 200) throw new Error(`the hub answered ${answer.statusCode}: ${text}`)
}
