import { HubRequestError } from './errors.ts'

const AMPERSAND = 0x26
const EQUALS = 0x3d
const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** One name and value of a form, still bytes: decoding is left until a field is known to matter. */
export interface FormField {
  readonly name: string
  readonly value: Buffer
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Percent-decodes bytes in the WHATWG way: `+` is a space, and a `%` that starts no escape stays. */
function decodeBytes(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    const high = byte === PERCENT ? hexDigit(bytes[at + 1]) : -1
    const low = high < 0 ? -1 : hexDigit(bytes[at + 2])
    if (low >= 0) {
      decoded[length] = high * 16 + low
      at += 2
    } else {
      decoded[length] = byte === PLUS ? SPACE : byte
    }
    length += 1
  }
  return decoded.subarray(0, length)
}

/** The text of a field value, or undefined when its bytes are not well-formed UTF-8. */
export function utf8(bytes: Buffer): string | undefined {
  try {
    return STRICT_UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Splits an `application/x-www-form-urlencoded` text (WHATWG URL standard, section 5.1) into its fields.
 * `;` is an ordinary character, empty pieces are skipped, a name without `=` has the empty value. A
 * name that is no UTF-8 can be no name we know, so such fields are left out.
 */
export function* formFields(bytes: Buffer): Generator<FormField> {
  for (let start = 0; start < bytes.length; ) {
    const ampersand = bytes.indexOf(AMPERSAND, start)
    const end = ampersand < 0 ? bytes.length : ampersand
    const piece = bytes.subarray(start, end)
    start = end + 1
    if (piece.length === 0) continue
    const equals = piece.indexOf(EQUALS)
    const name = utf8(decodeBytes(equals < 0 ? piece : piece.subarray(0, equals)))
    if (name === undefined) continue
    yield { name, value: equals < 0 ? Buffer.alloc(0) : decodeBytes(piece.subarray(equals + 1)) }
  }
}

/**
 * The text of a field that has to be UTF-8.
 * @throws HubRequestError 400 `not_utf8`, naming the field
 */
export function fieldText(field: FormField): string {
  const decoded = utf8(field.value)
  if (decoded === undefined) throw new HubRequestError('not_utf8', `${field.name}: not UTF-8`)
  return decoded
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const PARAMETER = `[ \\t]*;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`
const FORM_TYPE = new RegExp(`^application/x-www-form-urlencoded(?:${PARAMETER})*[ \\t]*$`, 'i')

/** Tells whether a `Content-Type` field names a form; parameters play no part, a form is always UTF-8. */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType)
}
