import { userInfo } from 'node:os'
import { z } from 'zod'
import type { Kind } from './variable.ts'

/** How the connection to the database is protected: the words and meaning of libpq's `sslmode`. */
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
/**
 * `require` encrypts and believes any certificate unless `rootCertFile` is there, which makes it `verify-ca`;
 * `verify-ca` checks who signed it; `verify-full` checks the host's name too.
 */
export type DatabaseTlsMode = (typeof TLS_MODES)[number]

/** What a `DATABASE_URL` says. */
export interface DatabaseUrl {
  /** Host name or address; a folder (leading `/`) is that of a unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  readonly tlsMode: DatabaseTlsMode
  /** Files in PEM form; empty when the URL names none. */
  readonly rootCertFile: string
  readonly certFile: string
  readonly keyFile: string
  /** Names of parameters that mean nothing here. */
  readonly ignored: readonly string[]
}

const KNOWN = new Set([
  'sslmode',
  'ssl',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'host',
  'user',
  'password',
  'port',
  'application_name',
])

function tlsModeOf(parameters: URLSearchParams): DatabaseTlsMode | undefined {
  const word = parameters.get('sslmode')
  // `allow` and `prefer` fall back to clear text without a word, so they are refused like any typo.
  if (word !== null) return TLS_MODES.find((mode) => mode === word)
  const ssl = parameters.get('ssl')
  if (ssl === null) return 'disable'
  return ssl === 'true' || ssl === '1' ? 'verify-full' : undefined
}

function portOf(text: string): number | undefined {
  if (text === '') return 5432
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

/**
 * True when the password ended too early for a `/`, `?` or `#` that is not percent-encoded: what follows would
 * pass for a database or a parameter, and be named in messages. NUL ends every text of the protocol.
 */
function isCutShort({ hash, pathname, search, href }: URL): boolean {
  return hash !== '' || `${pathname}${search}`.includes('@') || href.includes('%00')
}

function read(text: string): DatabaseUrl | undefined {
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || isCutShort(url)) return undefined
  const parameters = url.searchParams
  const tlsMode = tlsModeOf(parameters)
  const port = portOf(parameters.get('port') ?? url.port)
  if (tlsMode === undefined || port === undefined) return undefined
  const user = decodeURIComponent(url.username) || parameters.get('user') || userInfo().username
  const password = decodeURIComponent(url.password) || parameters.get('password') || undefined
  const hostname = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1')
  return {
    host: parameters.get('host') || hostname || 'localhost',
    port,
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    user,
    password,
    tlsMode,
    rootCertFile: parameters.get('sslrootcert') ?? '',
    certFile: parameters.get('sslcert') ?? '',
    keyFile: parameters.get('sslkey') ?? '',
    ignored: [...new Set(parameters.keys())].filter((name) => !KNOWN.has(name)),
  }
}

/** A `postgres://` or `postgresql://` URL as libpq takes it, of one host. */
export const databaseUrl: Kind<DatabaseUrl | undefined> = {
  schema: z.string().transform((text, context) => {
    try {
      const found = read(text)
      if (found !== undefined) return Object.freeze(found)
    } catch {
      // A broken percent escape; the message below must not repeat it.
    }
    context.addIssue({ code: 'custom', message: 'not a database URL' })
    return z.NEVER
  }),
  accepts:
    'postgres://user:password@host:port/database of one host, with sslmode ' +
    `${TLS_MODES.join(', ')} (not allow or prefer) and sslrootcert, sslcert, sslkey if need be; ` +
    'special characters in it percent-encoded',
}
