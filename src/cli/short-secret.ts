import type { SigningKey } from '../keys/index.ts'
import { ALGORITHMS } from '../tokens/index.ts'

/**
 * Says on standard error that a secret is shorter than the hash of its algorithm (RFC 7518 §3.2). The token is made all
 * the same: the one who verifies it holds that very secret.
 */
export function warnOfShortSecret({ key }: SigningKey, alg: string): void {
  const bytes = key.symmetricKeySize
  const least = ALGORITHMS.get(alg)?.secretBytes
  if (bytes === undefined || least === undefined || bytes >= least) return
  process.stderr.write(
    `warning: the secret has ${bytes} bytes, for ${alg} it should have ${least} or more random ones\n`,
  )
}
