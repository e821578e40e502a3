import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes: nothing shorter than the key itself helps a guesser. */
const SECRET_BYTES = 32
const FORM = /^hgd_([0-9a-f]{32})_[A-Za-z0-9_-]{43}$/

/** A new api key and the only part of it that is kept. */
export interface NewDeviceKey {
  /** Shown once, at creation or rotation. */
  readonly apiKey: string
  /** SHA-256 of the api key, hexadecimal. */
  readonly hash: string
}

function hashOf(apiKey: string): Buffer {
  // The key is random and long, so a plain hash is as good as a slow one (no dictionary exists).
  return createHash('sha256').update(apiKey).digest()
}

/** Makes the api key of a device; it carries the device's id, so that one row decides. */
export function newDeviceKey(deviceId: string): NewDeviceKey {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const apiKey = `hgd_${deviceId.replaceAll('-', '')}_${secret}`
  return { apiKey, hash: hashOf(apiKey).toString('hex') }
}

/** The device that an api key claims to be; undefined for any other text, before any store is asked. */
export function claimedDevice(text: string): string | undefined {
  const hex = FORM.exec(text)?.[1]
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Compares an api key with a stored hash, in constant time. */
export function deviceKeyFits(apiKey: string, hash: string): boolean {
  const stored = Buffer.from(hash, 'hex')
  const given = hashOf(apiKey)
  return stored.length === given.length && timingSafeEqual(stored, given)
}
