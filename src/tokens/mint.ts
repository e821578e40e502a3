import { CompactSign } from 'jose'
import { KeyError, type SigningKey } from '../keys/index.ts'
import { ALGORITHMS, type AlgorithmName } from './algorithms.ts'
import type { Claims } from './decode.ts'

/** What is signed. */
export interface MintOptions {
  readonly alg: AlgorithmName
  readonly key: SigningKey
  readonly kid?: string
  readonly typ?: string
  /** Written as they are: nothing is added, times are NumericDates in seconds. */
  readonly claims: Claims
}

/**
 * Signs a token in compact form.
 * @throws KeyError (`key_unusable`) if the key is not of the kind that the algorithm needs
 */
export async function mintToken({ alg, key, kid, typ, claims }: MintOptions): Promise<string> {
  const kind = ALGORITHMS.get(alg)?.kind
  if (kind === undefined || kind !== key.kind) {
    throw new KeyError('key_unusable', `${alg} needs a key of kind ${kind}, not ${key.kind}`, kind)
  }
  const header = {
    alg,
    ...(typ === undefined ? {} : { typ }),
    ...(kid === undefined ? {} : { kid }),
  }
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader(header)
    .sign(key.key)
}
