import { writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { KID_PATTERN, loadPubsubConfig, parsePrivateJwk, SIGNING_ALGS } from '../config/index.ts'
import { generateSigningJwk, publicHalf } from '../keys/index.ts'
import { listKeys, type RegistryOptions, revokeKey, upsertKey } from './registry-client.ts'

/** The documented time within which every verifier has seen a change of the registry. */
const SYNC_S = 60

interface GenerateOptions {
  readonly alg: string
  readonly kid?: string
  readonly out?: string
}

function parseKid(text: string): string {
  if (KID_PATTERN.test(text)) return text
  throw new InvalidArgumentError('Letters, digits, _ and - only.')
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** A new key: its private JWK as one line of JSON, and the public half. */
function generate({ alg, kid }: GenerateOptions) {
  const text = JSON.stringify(generateSigningJwk(alg, kid))
  const key = parsePrivateJwk(text)
  if (!key) throw new Error('the new key cannot be used')
  return { text, half: publicHalf(key) }
}

/** Writes for the owner's eyes only, and never over a key that exists. */
function writeKey(file: string, text: string): void {
  writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
}

function generateKey(options: GenerateOptions): void {
  const { text, half } = generate(options)
  if (options.out === undefined) {
    print(text)
    return
  }
  writeKey(options.out, text)
  print(JSON.stringify(half))
}

async function printKeys(options: RegistryOptions): Promise<void> {
  for (const { kid, jwk, created_at: created } of await listKeys(options)) {
    print(`${kid}  ${jwk.alg}  ${created}`)
  }
}

/** Upsert the public key, then say what is left to do: this command cannot change the broker's environment. */
async function rotate(options: RegistryOptions & GenerateOptions): Promise<void> {
  const { tokenTtlS } = loadPubsubConfig()
  const old = await listKeys(options)
  const { text, half } = generate(options)
  // The file comes first: a registered key whose private half was never kept is of no use.
  if (options.out !== undefined) writeKey(options.out, text)
  await upsertKey(options, half.kid, half)
  print(`1. done: public key ${half.kid} (${half.alg}) is registered`)
  print(`2. wait ${SYNC_S} seconds, until every verifier has seen it`)
  print(
    `3. set PUBSUB_JWT_PRIVATE_JWK to ${options.out ?? 'the line below'} and restart the broker`,
  )
  if (options.out === undefined) print(text)
  print(`4. wait ${tokenTtlS} seconds (PUBSUB_TOKEN_TTL_SEC), until the last old token has expired`)
  for (const { kid } of old) print(`5. hivegate keys revoke ${kid} --url ${options.url}`)
}

async function revoke(kid: string, options: RegistryOptions): Promise<void> {
  await revokeKey(options, kid)
  print(
    `revoked ${kid}: its tokens are refused here at once, and within ${SYNC_S} seconds elsewhere`,
  )
}

/** Runs an action; a failure is one line on standard error and exit code 1. */
function guarded<A extends readonly unknown[]>(command: Command, run: (...args: A) => unknown) {
  return async (...args: A): Promise<void> => {
    try {
      await run(...args)
    } catch (error) {
      command.error(`error: ${error instanceof Error ? error.message : 'failed'}`)
    }
  }
}

function newKey(command: Command): Command {
  return command
    .addOption(new Option('--alg <name>', 'algorithm').choices(SIGNING_ALGS).default('ES256'))
    .option('--kid <id>', 'key id; default: random', parseKid)
    .option('--out <file>', 'write the private JWK there (new file, mode 600) and not to stdout')
}

function atBroker(command: Command): Command {
  return command
    .requiredOption('--url <url>', 'address of the running broker')
    .option('--service-key <key>', '@file or @-; default: PUBSUB_SERVICE_ROLE_KEY')
}

/** `hivegate keys`: makes signing keys offline, and lists, rotates and revokes them on a running broker. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Signing keys of path-prefix tokens')
  const generating = newKey(keys.command('generate')).description('Make a private JWK, offline')
  generating.action(guarded(generating, generateKey))
  const listing = atBroker(keys.command('list')).description('List the active public keys')
  listing.action(guarded(listing, printKeys))
  const rotating = newKey(atBroker(keys.command('rotate')))
  rotating.description('Register a new key and print the steps and waits that are left')
  rotating.action(guarded(rotating, rotate))
  const revoking = atBroker(keys.command('revoke')).argument('<kid>', 'key id', parseKid)
  revoking.description('Revoke a key: its tokens are refused from now on')
  revoking.action(guarded(revoking, revoke))
  return keys
}
