import { Command, InvalidArgumentError, Option } from 'commander'
import { ROLES, type Role } from '../access/index.ts'
import { type AuthConfig, durationMs, loadMintDefaults } from '../config/index.ts'
import { acceptedAlgorithms } from '../http/index.ts'
import { readPrivateJwk, readPrivatePem, readSecret, type SigningKey } from '../keys/index.ts'
import { type Algorithm, type Claims, mintToken } from '../tokens/index.ts'
import { readArgument } from './key-argument.ts'
import { warnOfShortSecret } from './short-secret.ts'

interface TokenOptions {
  readonly role: readonly Role[]
  readonly sub?: string
  readonly ttl: number
  readonly secret?: string
  readonly key?: string
  readonly alg?: string
  readonly kid?: string
  readonly iss?: string
  readonly aud?: string
}

function parseTtlMs(text: string): number {
  const ms = durationMs(text)
  if (ms >= 1000 && Number.isSafeInteger(ms)) return ms
  throw new InvalidArgumentError('Write it like 90s, 15m or 1h30m; one second is the least.')
}

function parseRole(text: string, before: readonly Role[] | undefined): readonly Role[] {
  const role = ROLES.find((name) => name === text)
  if (role === undefined) throw new InvalidArgumentError(`One of ${ROLES.join(', ')}.`)
  return [...(before ?? []), role]
}

/** The key that signs: `--key` (PEM or JWK), else `--secret`, else `JWT_SECRET`. */
function signingKey(options: TokenOptions, settings: AuthConfig): SigningKey {
  if (options.key !== undefined) {
    const text = readArgument('--key', options.key)
    if (!text.trimStart().startsWith('{')) return readPrivatePem(text)
    const jwk: unknown = JSON.parse(text)
    return readPrivateJwk(jwk)
  }
  const given =
    options.secret === undefined ? settings.secret : readArgument('--secret', options.secret)
  if (given === '') throw new Error('give --secret or --key, or set JWT_SECRET')
  return readSecret(given)
}

/** What is asked for, or the first algorithm of the broker's list that the key can sign. */
function algorithmFor(key: SigningKey, asked: string | undefined): Algorithm {
  const known = [...acceptedAlgorithms('auto').values()]
  const fitting = known.filter(({ kind }) => kind === key.kind)
  const chosen = asked ?? key.alg
  const found = chosen === undefined ? fitting[0] : fitting.find(({ name }) => name === chosen)
  if (found !== undefined) return found
  const names = fitting.map(({ name }) => name).join(', ') || 'nothing that the broker accepts'
  throw new Error(`--alg: a key of kind ${key.kind} signs ${names}`)
}

/** One role goes into the single-value claim, several into the array claim, each under its configured value. */
function roleClaims(roles: readonly Role[], settings: AuthConfig): Claims {
  const values: Readonly<Record<Role, string>> = {
    admin: settings.roleAdmin,
    'read-write': settings.roleReadWrite,
    'read-only': settings.roleReadOnly,
    'write-only': settings.roleWriteOnly,
  }
  const [only] = roles
  if (roles.length === 1 && only !== undefined) return { [settings.rolesClaim]: values[only] }
  return { [settings.rolesArrayClaim]: roles.map((role) => values[role]) }
}

async function mint(options: TokenOptions): Promise<string> {
  const settings = loadMintDefaults()
  const key = signingKey(options, settings)
  const iat = Math.floor(Date.now() / 1000)
  const iss = options.iss ?? settings.issuer
  const aud = options.aud ?? settings.audience
  const kid = options.kid ?? key.kid
  const claims = {
    ...(options.sub === undefined ? {} : { sub: options.sub }),
    ...(iss === '' ? {} : { iss }),
    ...(aud === '' ? {} : { aud }),
    iat,
    exp: iat + Math.floor(options.ttl / 1000),
    ...roleClaims(options.role, settings),
  }
  const { name: alg } = algorithmFor(key, options.alg)
  warnOfShortSecret(key, alg)
  return await mintToken({ alg, key, typ: 'JWT', claims, ...(kid === undefined ? {} : { kid }) })
}

/** `hivegate token`: prints one role token; exit code 1 with one line on standard error if it cannot. */
export function tokenCommand(): Command {
  const command = new Command('token')
  command
    .description('Mint a role token for the queue; claim names, iss and aud follow JWT_*')
    .requiredOption('--role <role>', `what it may do, repeatable: ${ROLES.join(', ')}`, parseRole)
    .option('--sub <text>', 'who it is for; becomes producerSub on pushed messages')
    .addOption(
      new Option('--ttl <duration>', 'how long it is good for, such as 90s, 15m or 1h30m')
        .argParser(parseTtlMs)
        .default(3_600_000, '1h'),
    )
    .option('--secret <text>', 'HMAC secret, @file or @-; default: JWT_SECRET')
    .addOption(
      new Option('--key <pem>', 'private key as PEM or JWK: @file, @- or inline').conflicts(
        'secret',
      ),
    )
    .option('--alg <name>', 'default: HS256, RS256 or EdDSA, whichever the key can sign')
    .option('--kid <id>', 'key id in the header')
    .option('--iss <text>', 'issuer; default: JWT_ISSUER')
    .option('--aud <text>', 'audience; default: JWT_AUDIENCE')
    .action(async (options: TokenOptions) => {
      try {
        process.stdout.write(`${await mint(options)}\n`)
      } catch (error) {
        command.error(
          `error: ${error instanceof SyntaxError || !(error instanceof Error) ? '--key: not a JWK' : error.message}`,
        )
      }
    })
  return command
}
