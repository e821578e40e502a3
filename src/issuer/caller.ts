import { createHash, timingSafeEqual } from 'node:crypto'
import { claimedDevice, deviceKeyFits } from './device-keys.ts'
import { IssuerError } from './errors.ts'
import type { IssuerStore } from './store.ts'

/** Who asks (token issuing, 1.5). */
export type Caller =
  | { readonly kind: 'service' }
  | { readonly kind: 'device'; readonly deviceId: string; readonly herdId: string }
  | { readonly kind: 'user'; readonly user: string }

/** Verifies a user's session token and answers its `sub`; undefined for a token that is not good. */
export type SessionVerifier = (token: string) => Promise<string | undefined>

/** What a caller is recognised with. */
export interface CallerSources {
  readonly store: Pick<IssuerStore, 'deviceSecret'>
  /** Empty: no caller is a service. */
  readonly serviceRoleKey: string
  readonly verifySession: SessionVerifier
}

/** `req.headersDistinct`: every value of a header, so that repeated ones are seen. */
export type Headers = Readonly<Record<string, readonly string[] | undefined>>

/** The three places of a credential, as sent. */
interface Presented {
  readonly bearer: string | undefined
  readonly deviceHeader: string | undefined
  readonly apikey: string | undefined
}

function single(headers: Headers, name: string): string | undefined {
  const [value, ...others] = headers[name] ?? []
  // Two credentials in one place: whoever is in front of us may have read the other one.
  if (others.length > 0) throw new IssuerError('credential_invalid')
  const trimmed = value?.trim()
  return trimmed === '' ? undefined : trimmed
}

function bearerOf(headers: Headers): string | undefined {
  const value = single(headers, 'authorization')
  if (value === undefined) return undefined
  const token = /^Bearer[ \t]+(.+)$/i.exec(value)?.[1]
  if (token === undefined) throw new IssuerError('credential_invalid')
  return token
}

/** Digests have one length, so the comparison takes the same time for every guess. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

const looksLikeJwt = (text: string): boolean => text.split('.').length === 3

/** Recognises callers by the headers of the seed's edge function and of `@supabase/supabase-js`. */
export class CallerReader {
  readonly #sources: CallerSources

  constructor(sources: CallerSources) {
    this.#sources = sources
  }

  /**
   * Says who is calling. `Authorization` decides when it holds a session, a device key or the service key;
   * then `x-api-key`; then `apikey`. The client library sends its project key as `apikey` and, without a
   * session, as the Bearer value too: a key that is none of ours is passed over in those two places, but
   * alone it is refused. A Bearer token that was meant as a session and is bad never falls back.
   * @throws IssuerError 401
   */
  async read(headers: Headers): Promise<Caller> {
    const presented = {
      bearer: bearerOf(headers),
      deviceHeader: single(headers, 'x-api-key'),
      apikey: single(headers, 'apikey'),
    }
    if (Object.values(presented).every((value) => value === undefined)) {
      throw new IssuerError('credential_missing')
    }
    const caller = await this.#recognise(presented)
    if (!caller) throw new IssuerError('credential_invalid')
    return caller
  }

  async #recognise({ bearer, deviceHeader, apikey }: Presented): Promise<Caller | undefined> {
    if (bearer !== undefined) {
      const caller = (await this.#byKey(bearer)) ?? (await this.#bySession(bearer, apikey))
      if (caller) return caller
    }
    // This header is for devices alone, so a value that is no device key is a bad credential.
    if (deviceHeader !== undefined) return this.#byDeviceKey(deviceHeader)
    return apikey === undefined ? undefined : this.#byKey(apikey)
  }

  async #bySession(bearer: string, apikey: string | undefined): Promise<Caller | undefined> {
    const user = looksLikeJwt(bearer) ? await this.#sources.verifySession(bearer) : undefined
    if (user !== undefined) return { kind: 'user', user }
    if (looksLikeJwt(bearer) && bearer !== apikey) throw new IssuerError('credential_invalid')
    return undefined
  }

  async #byKey(key: string): Promise<Caller | undefined> {
    const { serviceRoleKey } = this.#sources
    if (serviceRoleKey !== '' && sameText(key, serviceRoleKey)) return { kind: 'service' }
    return this.#byDeviceKey(key)
  }

  async #byDeviceKey(key: string): Promise<Caller | undefined> {
    const deviceId = claimedDevice(key)
    if (deviceId === undefined) return undefined
    const secret = await this.#sources.store.deviceSecret(deviceId)
    if (!secret || !deviceKeyFits(key, secret.keyHash)) return undefined
    return { kind: 'device', deviceId, herdId: secret.herdId }
  }
}
