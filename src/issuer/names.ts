import { z } from 'zod'
import { segmentsOf } from '../access/index.ts'
import { ABILITIES } from './store.ts'

/** Long enough for any id scheme, short enough that hundreds fit into one token. */
const MAX_NAME_CHARACTERS = 255
/** A token above 32 KiB is refused by the hub; 500 short ids stay well below. */
const MAX_HERDS_PER_CALL = 500

/** Control characters have no place in a name that is shown, logged and put into headers. */
function isPlain(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.isWellFormed()
}

/**
 * True for a herd id: a path prefix in its one canonical spelling. The empty prefix would open the whole
 * tree and is no herd; percent signs would give one herd two spellings.
 */
function isHerdId(text: string): boolean {
  const segments = segmentsOf(text)
  return segments !== undefined && segments.length > 0 && segments.join('/') === text
}

/** The id of a herd; see `isHerdId`. */
export const herdId = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARACTERS)
  .refine((text) => isPlain(text) && isHerdId(text))
  .meta({ description: 'Path prefix without leading, trailing or doubled slashes' })

/** The `sub` of a session token. */
export const userId = z.string().min(1).max(MAX_NAME_CHARACTERS).refine(isPlain)

/** What people call a device. */
export const deviceName = z.string().min(1).max(MAX_NAME_CHARACTERS).refine(isPlain)

export const deviceId = z.uuid()
export const ability = z.enum(ABILITIES)

/** The explicit scope of a service call (seed "Pub/sub tokens": Service accounts). */
export const herdIds = z.array(herdId).min(1).max(MAX_HERDS_PER_CALL)
