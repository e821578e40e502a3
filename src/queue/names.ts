import { z } from 'zod'

/** Longest name of a queue, partition, group, namespace or task, in characters (code points). */
const MAX_NAME_CHARACTERS = 255

/** The one answer to a name that cannot be used, wherever it stands. */
export const NAME_RULE =
  'a name is text of at most 255 characters without U+0000 and without half surrogate pairs'

/** The one answer to a text that no store could give back as it came. */
export const TEXT_RULE = 'must be text without U+0000 and without half surrogate pairs'

/**
 * Text that every store gives back exactly: PostgreSQL takes no U+0000, and half a surrogate pair has no
 * UTF-8 form, so that two different texts would become the same key.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/**
 * The grammar of names, the only one: any text of up to 255 characters, so that whatever can be created can be
 * named in a path, percent-encoded, and fetched and deleted. The empty name passes; a path cannot hold it.
 */
export function isName(name: string): boolean {
  if (name.length > 2 * MAX_NAME_CHARACTERS || !isStorableText(name)) return false
  return name.length <= MAX_NAME_CHARACTERS || [...name].length <= MAX_NAME_CHARACTERS
}

/** A name in a request body. */
export const nameField = z.string().refine(isName, NAME_RULE)

/** Other text of a client that is kept as it is: ids, error texts. */
export const textField = z.string().refine(isStorableText, TEXT_RULE)
