import { Command, InvalidArgumentError } from 'commander'
import { segmentsOf } from '../access/index.ts'
import {
  durationMs,
  loadPubsubConfig,
  parsePrivateJwk,
  TOKEN_TTL_RANGE_S,
} from '../config/index.ts'
import { mintPathToken } from '../issuer/index.ts'
import { readArgument } from './key-argument.ts'

interface PubsubTokenOptions {
  readonly root: string
  readonly put: readonly string[]
  readonly get: readonly string[]
  readonly ttl?: number
  readonly key?: string
}

function parseTtlS(text: string): number {
  const seconds = durationMs(text) / 1000
  const { min, max } = TOKEN_TTL_RANGE_S
  if (Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds
  throw new InvalidArgumentError(`From ${min}s to ${max}s, such as 90s, 15m or 1h30m.`)
}

/** A prefix that no path can lie under would make a token that looks like a grant and opens nothing. */
function parsePrefix(text: string): string {
  if (segmentsOf(text) !== undefined) return text
  throw new InvalidArgumentError('It holds . or .., NUL, a backslash, %2F or a broken escape.')
}

const collect = (prefix: string, before: readonly string[]) => [...before, parsePrefix(prefix)]

async function mint({ root, put, get, ttl, key: given }: PubsubTokenOptions): Promise<string> {
  if (put.length + get.length === 0) throw new Error('give at least one --put or --get')
  const config = loadPubsubConfig()
  const key =
    given === undefined ? config.mintingKey : parsePrivateJwk(readArgument('--key', given))
  if (key === undefined) {
    const fault = given === undefined ? 'set PUBSUB_JWT_PRIVATE_JWK or give --key' : '--key'
    throw new Error(`${fault}: one private JWK with kid and a supported alg is needed`)
  }
  const minter = { key, ttlS: ttl ?? config.tokenTtlS, clock: Date }
  return (await mintPathToken(minter, { root, put, get })).token
}

/** `hivegate pubsub-token`: prints one path-prefix token, without any running broker. */
export function pubsubTokenCommand(): Command {
  const command = new Command('pubsub-token')
  command
    .description('Mint a path-prefix token offline, with PUBSUB_JWT_PRIVATE_JWK')
    .option('--put <prefix>', 'prefix to publish under, repeatable; "" is all', collect, [])
    .option('--get <prefix>', 'prefix to subscribe under, repeatable; "" is all', collect, [])
    .option('--root <path>', 'base of the prefixes', parsePrefix, '')
    .option('--ttl <duration>', 'lifetime; default: PUBSUB_TOKEN_TTL_SEC', parseTtlS)
    .option('--key <jwk>', 'private JWK, @file or @-; default: PUBSUB_JWT_PRIVATE_JWK')
    .action(async (options: PubsubTokenOptions) => {
      try {
        process.stdout.write(`${await mint(options)}\n`)
      } catch (error) {
        command.error(`error: ${error instanceof Error ? error.message : 'minting failed'}`)
      }
    })
  return command
}
