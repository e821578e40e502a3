import { readFileSync } from 'node:fs'
import type { Request, Response } from 'express'
import { MERCURE_DETAIL_TYPE } from '../../access/index.ts'
import type { HubConfig, HubVerifier } from '../../config/index.ts'
import { readSecret } from '../../keys/index.ts'
import { mintToken } from '../../tokens/index.ts'
import { answer, HubRefusal } from '../answers.ts'
import type { HubContext } from '../context.ts'
import { requestOrigin } from '../origin.ts'

/** 1 January 2100 in seconds: tokens of development mode never expire in practice. */
const DEV_EXPIRY_S = 4_102_444_800

/** Where the page expects its token; the file has it once, inside a text field. */
const TOKEN_MARK = '{{token}}'

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['debugger.css', 'text/css; charset=utf-8'],
  ['debugger.js', 'text/javascript; charset=utf-8'],
  ['events.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
])

const PAGE = new URL('../debugger/', import.meta.url)
const loaded = new Map<string, string>()

function pageFile(name: string): string {
  const text = loaded.get(name) ?? readFileSync(new URL(name, PAGE), 'utf8')
  loaded.set(name, text)
  return text
}

function sameSecret(verifier: HubVerifier | undefined, secret: string): boolean {
  return verifier?.kind === 'secret' && verifier.secret === secret
}

/**
 * The token that fills the page in development mode: made only when the subscriber key is a raw secret,
 * and good for publishing only when the publisher key is the same one.
 */
async function developmentToken(config: HubConfig, audience: string): Promise<string> {
  const issuer = config.issuers.find(({ subscriber }) => subscriber?.kind === 'secret')
  const subscriber = issuer?.subscriber
  if (!config.dev || issuer === undefined || subscriber?.kind !== 'secret') return ''
  const publishes = sameSecret(issuer.publisher, subscriber.secret)
  return mintToken({
    alg: subscriber.algorithm,
    key: readSecret(subscriber.secret),
    typ: 'at+jwt',
    claims: {
      iss: issuer.issuer,
      aud: audience,
      sub: issuer.issuer,
      client_id: issuer.issuer,
      exp: DEV_EXPIRY_S,
      authorization_details: [
        {
          type: MERCURE_DETAIL_TYPE,
          actions: publishes ? ['publish', 'subscribe'] : ['subscribe'],
          topics: [{ match: '*' }],
        },
      ],
    },
  })
}

/** `GET …/debug/config.json`: what the page has to know of the hub. */
function showConfig(config: HubConfig, req: Request, res: Response): void {
  const { dev, anonymous, subscriptions, cookieName } = config
  const body = JSON.stringify({ playground: dev, anonymous, subscriptions, cookieName })
  answer(req, res, 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }, body)
}

/** `GET` below `/.well-known/mercure/debug/`: a page to subscribe, publish and watch from a browser. */
export async function showDebugger(
  { config }: HubContext,
  req: Request,
  res: Response,
): Promise<void> {
  const name = req.path.slice(req.path.lastIndexOf('/') + 1) || 'index.html'
  if (name === 'config.json') {
    showConfig(config, req, res)
    return
  }
  const type = MEDIA_TYPES.get(name)
  if (type === undefined) throw new HubRefusal(404)
  if (name !== 'index.html') {
    answer(req, res, 200, { 'Content-Type': type }, pageFile(name))
    return
  }
  const token = await developmentToken(config, requestOrigin(req, config).resourceIdentifier)
  const page = pageFile(name).replace(TOKEN_MARK, token)
  answer(req, res, 200, { 'Content-Type': type, 'Cache-Control': 'no-store' }, page)
}
