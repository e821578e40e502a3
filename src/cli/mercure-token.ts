import { Command, InvalidArgumentError } from 'commander'
import { type GrantedTopics, selfIssuedClaims } from '../access/index.ts'
import {
  DEFAULT_ISSUER,
  DEV_EXPIRY_S,
  DEV_RESOURCE_IDENTIFIER,
  durationMs,
  HUB_ALGORITHMS,
  type HubAlgorithm,
  isPem,
  loadDevKey,
} from '../config/index.ts'
import { readPrivatePem, readSecret, type SigningKey } from '../keys/index.ts'
import { type Claims, mintToken } from '../tokens/index.ts'
import { readArgument } from './key-argument.ts'
import { warnOfShortSecret } from './short-secret.ts'

interface Options {
  readonly iss?: string
  readonly aud?: string
  readonly key?: string
  readonly alg?: HubAlgorithm
  readonly kid?: string
  readonly sub?: string
  readonly clientId?: string
  readonly ttl: number
  readonly payload?: { readonly value: unknown }
  readonly publish: readonly string[]
  readonly publishUrlpattern: readonly string[]
  readonly subscribe: readonly string[]
  readonly subscribeUrlpattern: readonly string[]
  readonly pretty?: true
  readonly dev?: true
}

const HOUR_MS = 3_600_000
const EVERYTHING: GrantedTopics = { exact: ['*'], urlpattern: [] }

function parseTtlMs(text: string): number {
  const ms = durationMs(text)
  if (ms >= 1000 && Number.isSafeInteger(ms)) return ms
  throw new InvalidArgumentError('Write it like 90s, 15m or 1h30m; one second is the least.')
}

function parseAlgorithm(text: string): HubAlgorithm {
  const name = HUB_ALGORITHMS.find((known) => known === text)
  if (name !== undefined) return name
  throw new InvalidArgumentError(`One of ${HUB_ALGORITHMS.join(', ')}.`)
}

function parsePayload(text: string): { readonly value: unknown } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    throw new InvalidArgumentError('It is not JSON.')
  }
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

function required(name: 'iss' | 'aud' | 'key', given: string | undefined, dev: string | undefined) {
  const value = given ?? dev
  if (value === undefined) throw new Error(`--${name} is missing`)
  return value
}

/** The key and the algorithm that it signs: a raw secret is HMAC, a PEM private key needs `--alg`. */
function signer(
  text: string,
  asked: HubAlgorithm | undefined,
): { key: SigningKey; alg: HubAlgorithm } {
  const hmac = asked?.startsWith('HS') ?? true
  if (isPem(text)) {
    if (asked === undefined) throw new Error('--alg is missing: a PEM key needs one')
    if (hmac) throw new Error(`--alg: ${asked} takes a raw secret, the key is PEM`)
    return { key: readPrivatePem(text), alg: asked }
  }
  if (!hmac) throw new Error(`--key: ${asked} needs a private key in PEM form`)
  return { key: readSecret(text), alg: asked ?? 'HS256' }
}

function claimsFor(options: Options, iss: string, aud: string): Claims {
  const publish = { exact: options.publish, urlpattern: options.publishUrlpattern }
  const subscribe = { exact: options.subscribe, urlpattern: options.subscribeUrlpattern }
  const granted = [publish, subscribe].some(
    ({ exact, urlpattern }) => exact.length + urlpattern.length > 0,
  )
  if (!granted && !options.dev) {
    throw new Error(
      'give at least one of --publish, --publish-urlpattern, --subscribe, --subscribe-urlpattern',
    )
  }
  const iatS = Math.floor(Date.now() / 1000)
  return selfIssuedClaims({
    iss,
    aud,
    sub: options.sub,
    clientId: options.clientId,
    iatS,
    expS: options.dev ? DEV_EXPIRY_S : iatS + Math.floor(options.ttl / 1000),
    publish: granted ? publish : EVERYTHING,
    subscribe: granted ? subscribe : EVERYTHING,
    payload: options.payload?.value,
  })
}

async function mint(options: Options): Promise<{ token: string; shown: string }> {
  const { dev, kid } = options
  const iss = required('iss', options.iss, dev && DEFAULT_ISSUER)
  const aud = required('aud', options.aud, dev && DEV_RESOURCE_IDENTIFIER)
  const given = required('key', options.key, dev && loadDevKey())
  const text = options.key === undefined ? given : readArgument('--key', given)
  const claims = claimsFor(options, iss, aud)
  const header = { typ: 'at+jwt', ...(kid === undefined ? {} : { kid }) }
  const { key, alg } = signer(text, options.alg)
  warnOfShortSecret(key, alg)
  const token = await mintToken({ ...header, alg, key, claims })
  return { token, shown: JSON.stringify({ header: { alg, ...header }, claims }, null, 2) }
}

/** `hivegate mercure-token`: prints one self-issued access token; exit code 1 with one line on standard error if it cannot. */
export function mercureTokenCommand(): Command {
  const command = new Command('mercure-token')
  return command
    .description('Mint an access token for the event hub')
    .option('--iss <issuer>', 'issuer (iss)')
    .option('--aud <identifier>', 'resource identifier of the hub (aud)')
    .option(
      '--key <key>',
      'raw secret or PEM private key: inline, @file, or @- for standard input; prefer the latter two',
    )
    .option(
      '--alg <name>',
      `default HS256 for a raw secret; ${HUB_ALGORITHMS.join(', ')}`,
      parseAlgorithm,
    )
    .option('--kid <id>', 'key id in the header')
    .option('--sub <subject>', 'subject (sub); default: a random urn:uuid')
    .option('--client-id <id>', 'client_id; default: the issuer')
    .option(
      '--ttl <duration>',
      'life, such as 90s, 15m or 1h30m; default 1h, ignored with --dev',
      parseTtlMs,
      HOUR_MS,
    )
    .option('--payload <json>', 'payload of the subscribe grant, any JSON value', parsePayload)
    .option('--publish <topic>', 'grant publishing to exactly this topic, repeatable', collect, [])
    .option(
      '--publish-urlpattern <pattern>',
      'grant publishing by URL pattern, repeatable',
      collect,
      [],
    )
    .option(
      '--subscribe <topic>',
      'grant subscribing to exactly this topic, repeatable',
      collect,
      [],
    )
    .option(
      '--subscribe-urlpattern <pattern>',
      'grant subscribing by URL pattern, repeatable',
      collect,
      [],
    )
    .option('--pretty', 'also print header and claims to standard error')
    .option(
      '--dev',
      'fill in what is missing for a hub in development mode; the token ends in 2100',
    )
    .action(async (options: Options) => {
      try {
        const { token, shown } = await mint(options)
        if (options.payload !== undefined && !shown.includes('"subscribe"')) {
          process.stderr.write('note: --payload has no effect without a subscribe grant\n')
        }
        if (options.pretty) process.stderr.write(`${shown}\n`)
        process.stdout.write(`${token}\n`)
      } catch (error) {
        command.error(`error: ${error instanceof Error ? error.message : 'cannot mint'}`)
      }
    })
}
