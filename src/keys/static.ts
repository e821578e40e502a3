import { createSecretKey } from 'node:crypto'
import { fits, KeyError, type KeyRequest, type KeySource, type VerificationKey } from './key.ts'
import { readPublicPem } from './pem.ts'
import { chooseKeys, type KeyChoice } from './select.ts'

const NEVER_CHANGES = (): (() => void) => () => undefined
const NOTHING_TO_CLOSE = (): void => undefined

/** A source of fixed keys, each of which is a candidate if it fits; the token's `kid` is not looked at. */
export function fixedSource(keys: readonly VerificationKey[], about: string): KeySource {
  return {
    about,
    candidates: (request) => keys.filter((key) => fits(key, request)),
    onChange: NEVER_CHANGES,
    close: NOTHING_TO_CLOSE,
  }
}

/** A source of the keys of a set that never changes; the token's `kid` chooses among them like in a fetched set. */
export function keySetSource(
  keys: readonly VerificationKey[],
  choice: KeyChoice,
  about: string,
): KeySource {
  const source = fixedSource(keys, about)
  return { ...source, candidates: (request) => chooseKeys(keys, request, choice) }
}

/** A source whose every use fails with one error: key material that is missing or unusable. */
export function failingSource(error: (request: KeyRequest) => KeyError, about: string): KeySource {
  return {
    about,
    candidates: (request) => {
      throw error(request)
    },
    onChange: NEVER_CHANGES,
    close: NOTHING_TO_CLOSE,
  }
}

/**
 * The HMAC secret: the UTF-8 bytes of the text, as they are. An empty one fails each use with `secret_missing`.
 * @param about where it comes from, such as `JWT_SECRET`
 */
export function secretSource(secret: string | Uint8Array, about: string): KeySource {
  const bytes = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : secret
  if (bytes.length === 0) {
    return failingSource(
      ({ kind }) => new KeyError('secret_missing', `${about} is empty`, kind),
      `${about} (empty)`,
    )
  }
  const key: VerificationKey = { kind: 'secret', key: createSecretKey(bytes) }
  return fixedSource([key], `${about} (${bytes.length} bytes)`)
}

/**
 * One public key as PEM. Text that does not hold a usable public key, and a request for another kind of key, fail
 * each use with `key_unusable`; nothing is thrown here, because such a broker starts (seed: "Boot-time validation").
 * @param about where it comes from, such as `JWT_PUBLIC_KEY`
 */
export function pemSource(pem: string, about: string): KeySource {
  try {
    const key = readPublicPem(pem)
    const unfit = (request: KeyRequest): KeyError =>
      new KeyError(
        'key_unusable',
        `${about} holds a key of kind ${key.kind}, the token needs ${request.kind}`,
        request.kind,
      )
    return {
      ...fixedSource([key], `${about} (${key.kind})`),
      candidates: (request) => {
        if (!fits(key, request)) throw unfit(request)
        return [key]
      },
    }
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    return failingSource(
      ({ kind }) => new KeyError('key_unusable', `${about}: ${cause.message}`, kind, { cause }),
      `${about} (unusable: ${cause.message})`,
    )
  }
}
