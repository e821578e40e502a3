import { z } from 'zod'
import { isName, isStorableText, NAME_RULE } from '../model.ts'

/** A name in a request body. The empty one passes: it means the empty queue, or the default of a group or partition. */
export const nameField = z.string().refine(isName, NAME_RULE)

/** Other text that is kept as it came: ids. */
export const textField = z
  .string()
  .refine(isStorableText, 'must be text without NUL and half surrogate pairs')
