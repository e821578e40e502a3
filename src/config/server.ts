import { duration, integer, oneOf, text } from './kinds.ts'
import { type TrustProxy, trustProxy } from './trust-proxy.ts'
import { type Settings, variable } from './variable.ts'

/** The listener, the log and where the embedded store lives. */
export const SERVER_VARIABLES = {
  port: variable('PORT', integer(0, 65_535), 6632, 'Port to listen on; 0 takes a free one'),
  host: variable('HOST', text, '0.0.0.0', 'Address to listen on'),
  logLevel: variable(
    'LOG_LEVEL',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'Least severe level that is logged',
  ),
  dataDir: variable(
    'DATA_DIR',
    text,
    './data',
    'Folder of the embedded store; not used with DATABASE_URL',
  ),
  drainTimeoutMs: variable(
    'DRAIN_TIMEOUT',
    duration,
    10_000,
    'Longest wait for open work at SIGTERM',
  ),
  tlsCertFile: variable(
    'TLS_CERT_FILE',
    text,
    '',
    'Certificate chain (PEM); with TLS_KEY_FILE the port speaks HTTPS only. Read again on SIGHUP',
  ),
  tlsKeyFile: variable('TLS_KEY_FILE', text, '', 'Private key (PEM) of the certificate'),
  trustProxy: variable<TrustProxy>(
    'TRUST_PROXY',
    trustProxy,
    false,
    'Proxies in front whose X-Forwarded-* headers are believed; unset: none',
  ),
} as const

export type ServerConfig = Settings<typeof SERVER_VARIABLES>

/** The two files of the TLS listener come together or not at all. */
export function checkTls({ tlsCertFile, tlsKeyFile }: ServerConfig, problems: string[]): void {
  if ((tlsCertFile === '') === (tlsKeyFile === '')) return
  const [missing, given] =
    tlsCertFile === '' ? ['TLS_CERT_FILE', 'TLS_KEY_FILE'] : ['TLS_KEY_FILE', 'TLS_CERT_FILE']
  problems.push(`${missing}: has to be set together with ${given}`)
}
