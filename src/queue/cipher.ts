import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { JsonText } from './model.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The stored form of an encrypted payload: base64 members, upstream's names. Queue API 5.5. */
const envelope = z.object({
  encrypted: z.base64(),
  iv: z.base64(),
  authTag: z.base64(),
})

/** Payload encryption at rest. */
export interface PayloadCipher {
  /** False without a key: payloads are then stored in clear. */
  readonly enabled: boolean
  /** The envelope around a payload. */
  seal(payload: JsonText): JsonText
  /** The payload inside an envelope, or the envelope itself when it cannot be opened. */
  open(stored: JsonText): JsonText
}

const CLEAR: PayloadCipher = {
  enabled: false,
  seal: (payload) => payload,
  open: (stored) => stored,
}

function sealWith(key: Buffer, payload: JsonText): JsonText {
  const iv = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
  const encrypted = Buffer.concat([cipher.update(payload, 'utf8'), cipher.final()])
  return JSON.stringify({
    encrypted: encrypted.toString('base64'),
    iv: iv.toString('base64'),
    authTag: cipher.getAuthTag().toString('base64'),
  })
}

function openWith(key: Buffer, stored: JsonText): JsonText {
  try {
    const { encrypted, iv, authTag } = envelope.parse(JSON.parse(stored))
    // Upstream writes 16 bytes of which the first 12 are the nonce.
    const nonce = Buffer.from(iv, 'base64').subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(Buffer.from(authTag, 'base64'))
    return decipher.update(encrypted, 'base64', 'utf8') + decipher.final('utf8')
  } catch {
    // Another key or damaged data: the envelope is still the best answer there is. Queue API 5.5.
    return stored
  }
}

/** `keyHex`: 64 hexadecimal digits, or empty for no encryption. */
export function payloadCipher(keyHex: string): PayloadCipher {
  if (keyHex === '') return CLEAR
  const key = Buffer.from(keyHex, 'hex')
  return {
    enabled: true,
    seal: (payload) => sealWith(key, payload),
    open: (stored) => openWith(key, stored),
  }
}
