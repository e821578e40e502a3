import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config/index.ts'
import { type Listener, type Logger, renewCertificate, type TlsFiles } from '../http/index.ts'
import { BootError } from './boot-error.ts'
import { readNamedFile } from './read-file.ts'

/**
 * Reads the certificate and key of the TLS listener; undefined without the two settings.
 * @throws BootError when a file cannot be read or the two do not fit together
 */
export function readCertificate({ server }: Config): TlsFiles | undefined {
  const { tlsCertFile, tlsKeyFile } = server
  if (tlsCertFile === '') return undefined
  const cert = readNamedFile('TLS_CERT_FILE', tlsCertFile)
  const key = readNamedFile('TLS_KEY_FILE', tlsKeyFile)
  try {
    createSecureContext({ cert, key })
    // The context alone would take a key of another kind than the certificate's.
    const fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
    if (!fits) throw new Error('the key belongs to another certificate')
  } catch (cause) {
    // The cause may quote the files; it stays out of the message.
    throw new BootError(
      'TLS_CERT_FILE, TLS_KEY_FILE: not a certificate and its private key in PEM form',
      { cause },
    )
  }
  return { cert, key }
}

/**
 * Reads the files again and gives the listener what they hold; connections and streams that are open go on.
 * Files that cannot be used are logged and the certificate stays as it is.
 */
export function reloadCertificate(config: Config, server: Listener, log: Logger): void {
  try {
    const files = readCertificate(config)
    if (files === undefined) return
    renewCertificate(server, files)
    log.info('certificate read again')
  } catch (error) {
    log.error(
      { reason: error instanceof Error ? error.message : String(error) },
      'certificate not read again',
    )
  }
}
