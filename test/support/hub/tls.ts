import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { certificatePem, type KeyFixture, rsaKey } from '../keys.ts'
import { temporaryFolder } from './hub.ts'

/** The files of a TLS listener, in a folder that is gone when the test is. */
export interface CertificateFiles {
  /** The two variables that name the files. */
  readonly env: { readonly TLS_CERT_FILE: string; readonly TLS_KEY_FILE: string }
  /** Puts another certificate into the same files; gives its PEM. */
  replace(key: KeyFixture): string
  /** The certificate as PEM, to be trusted by a client. */
  readonly cert: string
}

/** Writes a self-signed certificate for localhost. */
export function certificateFiles(key: KeyFixture = rsaKey()): CertificateFiles {
  const folder = temporaryFolder()
  const env = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') }
  const replace = (next: KeyFixture): string => {
    const cert = certificatePem(next)
    writeFileSync(env.TLS_CERT_FILE, cert)
    writeFileSync(env.TLS_KEY_FILE, next.privatePem)
    return cert
  }
  return { env, replace, cert: replace(key) }
}
