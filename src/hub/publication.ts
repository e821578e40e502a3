import { HubRequestError } from './errors.ts'
import { type FormField, fieldText, formFields } from './form.ts'
import { assertPublishableId, assertPublishableTopic, assertPublishableType } from './reserved.ts'
import type { Update } from './store.ts'

/** Most `topic` fields of one update. */
export const MAX_TOPICS = 1000

const MAX_RETRY = 2n ** 64n - 1n
/** 2^64-1 has 20 digits; longer texts are only looked at after their leading zeros are gone. */
const MAX_RETRY_DIGITS = 20

/** An update as a publisher sends it: the id is the hub's to make when it is left out. */
export type Publication = Omit<Update, 'id'> & { readonly id?: string }

/**
 * The `retry` field: ASCII digits only, at most 2^64-1; empty and zero mean none.
 * @throws HubRequestError 400 `retry_malformed`
 */
function readRetry(text: string): string | undefined {
  if (text === '') return undefined
  const digits = text.replace(/^0+/, '')
  const fits = digits.length <= MAX_RETRY_DIGITS && /^[0-9]*$/.test(digits)
  if (!fits || BigInt(digits) > MAX_RETRY) {
    throw new HubRequestError('retry_malformed', 'retry: not a whole number of milliseconds')
  }
  return digits === '' ? undefined : digits
}

interface Fields {
  readonly topics: readonly FormField[]
  readonly first: ReadonlyMap<string, FormField>
}

const SINGLE = new Set(['data', 'private', 'id', 'type', 'retry'])

/** Topics keep order and repeats, of every other known field the first counts, the rest is dropped. */
function sortFields(body: Buffer): Fields {
  const topics: FormField[] = []
  const first = new Map<string, FormField>()
  for (const field of formFields(body)) {
    if (field.name === 'topic') topics.push(field)
    else if (SINGLE.has(field.name) && !first.has(field.name)) first.set(field.name, field)
  }
  return { topics, first }
}

/**
 * Reads a publish request (protocol, "publishing"): topic present, topic count, then characters and
 * reserved values of topics, id, type, retry and data.
 * @throws HubRequestError 400 naming the field, 413 for too many topics
 */
export function readPublication(body: Buffer): Publication {
  const { topics, first } = sortFields(body)
  if (topics.length === 0) throw new HubRequestError('topic_missing', 'topic: missing')
  if (topics.length > MAX_TOPICS) {
    throw new HubRequestError('too_many_topics', 'topic: too many', 413)
  }
  const text = (name: string): string => {
    const field = first.get(name)
    return field === undefined ? '' : fieldText(field)
  }
  const names = topics.map(fieldText)
  for (const name of names) assertPublishableTopic(name)
  const id = text('id')
  assertPublishableId(id)
  const type = text('type')
  assertPublishableType(type)
  const retry = readRetry(text('retry'))
  return {
    topics: names,
    data: text('data'),
    private: first.has('private'),
    ...(id === '' ? {} : { id }),
    ...(type === '' ? {} : { type }),
    ...(retry === undefined ? {} : { retry }),
  }
}
