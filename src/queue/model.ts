/** JSON text as it came in or will go out. The store keeps and returns it without parsing. */
export type JsonText = string

/** The group name used when a pop or an ack names none. Queue API 3.3. */
export const QUEUE_MODE = '__QUEUE_MODE__'

/** The partition used when a push names none. Queue API 3.1. */
export const DEFAULT_PARTITION = 'Default'

/** Longest name of a queue, partition or group, in characters. */
export const MAX_NAME_CHARACTERS = 255

/** The options of a queue; names, units and defaults are those of queue API 5.1. */
export interface QueueOptions {
  /** Seconds. */
  readonly leaseTime: number
  readonly retryLimit: number
  /** ms; stored and echoed only. */
  readonly retryDelay: number
  readonly priority: number
  /** Stored and echoed only. */
  readonly maxSize: number
  /** Seconds; stored and echoed only. */
  readonly ttl: number
  readonly deadLetterQueue: boolean
  readonly dlqAfterMaxRetries: boolean
  /** Seconds. */
  readonly delayedProcessing: number
  /** Seconds. */
  readonly windowBuffer: number
  /** Seconds. */
  readonly retentionSeconds: number
  /** Seconds. */
  readonly completedRetentionSeconds: number
  readonly retentionEnabled: boolean
  readonly encryptionEnabled: boolean
  /** Seconds. */
  readonly maxWaitTimeSeconds: number
  /** Seconds. */
  readonly dedupWindowSeconds: number
  /** ms, 0 to 60 000; stored and echoed only. */
  readonly minPopWaitTime: number
}

/** What an option is when nobody has set it. */
export const DEFAULT_OPTIONS: QueueOptions = Object.freeze({
  leaseTime: 300,
  retryLimit: 3,
  retryDelay: 1000,
  priority: 0,
  maxSize: 0,
  ttl: 3600,
  deadLetterQueue: true,
  dlqAfterMaxRetries: true,
  delayedProcessing: 0,
  windowBuffer: 0,
  retentionSeconds: 0,
  completedRetentionSeconds: 0,
  retentionEnabled: false,
  encryptionEnabled: false,
  maxWaitTimeSeconds: 0,
  dedupWindowSeconds: 3600,
  minPopWaitTime: 0,
})

/** Options as a configure request gives them: absent = not given, null = back to the default. */
export type GivenOptions = { readonly [K in keyof QueueOptions]?: QueueOptions[K] | null }

/** Numbers are kept in 32 bits, so that no sum of times leaves the range of exact integers. */
export const MAX_OPTION = 2_147_483_647
const MAX_POP_WAIT_MS = 60_000

function whole(value: number): number {
  return Math.trunc(Math.min(Math.max(value, -MAX_OPTION), MAX_OPTION))
}

/**
 * The options after a configure. Merge keeps what is absent, replace returns it to the default; null
 * always returns to the default; fractions are cut off. Queue API 5.1.
 */
export function mergeOptions(
  stored: QueueOptions,
  given: GivenOptions,
  mode: 'merge' | 'replace',
): QueueOptions {
  const base = mode === 'merge' ? stored : DEFAULT_OPTIONS
  const entries = Object.entries(DEFAULT_OPTIONS).map(([key, fallback]) => {
    // The keys are those of QueueOptions, which both records share.
    const name = key as keyof QueueOptions
    const value = given[name] === undefined ? base[name] : (given[name] ?? fallback)
    return [name, typeof value === 'number' ? whole(value) : value]
  })
  // Made from the keys of DEFAULT_OPTIONS, so the shape is the same.
  const merged = Object.fromEntries(entries) as QueueOptions
  const minPopWaitTime = Math.min(Math.max(merged.minPopWaitTime, 0), MAX_POP_WAIT_MS)
  return { ...merged, minPopWaitTime }
}

/** Namespace and task of a queue that a push creates: the first two parts of its name. Queue API 3.1. */
export function labelsOf(queue: string): { readonly namespace: string; readonly task: string } {
  const [namespace = '', task = ''] = queue.split('.', 2)
  return { namespace, task }
}

/** What an ack says about a message, after the words of queue API 6.1 have been read. */
export type AckStatus = 'completed' | 'failed' | 'retry' | 'dlq'

const ACK_WORDS: ReadonlyMap<string, AckStatus> = new Map([
  ['completed', 'completed'],
  ['success', 'completed'],
  ['acked', 'completed'],
  ['ok', 'completed'],
  ['', 'completed'],
  ['failed', 'failed'],
  ['retry', 'retry'],
  ['dlq', 'dlq'],
])

/** Reads the `status` of an ack: nothing or empty is completed, an unknown word is failed. Queue API 6.1. */
export function ackStatus(word: string | null | undefined): AckStatus {
  return ACK_WORDS.get(word ?? '') ?? 'failed'
}

/** Where a group begins on a queue; settled at its first pop. Queue API 7.1. */
export type Subscription =
  | { readonly mode: 'all' | 'new' }
  | { readonly mode: 'timestamp'; readonly fromUs: number }

/** The one text of the 400 that answers a name that breaks the grammar. */
export const NAME_RULE = `must be text of 1 to ${MAX_NAME_CHARACTERS} characters`

/** A name that breaks the grammar; the answer is 400. */
export class BadNameError extends Error {
  readonly code = 'bad_name'
  readonly status = 400
  constructor(what: string) {
    super(`${what} ${NAME_RULE}`)
    this.name = 'BadNameError'
  }
}

/**
 * Text that every store gives back as it came: no NUL, which PostgreSQL refuses, and no half surrogate pair,
 * which has no UTF-8 form.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Text about a failure in a form that can be stored: to refuse the failure for its wording would help nobody. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/**
 * The one grammar of queue, partition and group names: any storable text of up to 255 characters, so that
 * whatever can be created can be named in a path and be fetched and deleted. Empty passes here.
 */
export function isName(name: string): boolean {
  const fits =
    name.length <= MAX_NAME_CHARACTERS ||
    (name.length <= 2 * MAX_NAME_CHARACTERS && [...name].length <= MAX_NAME_CHARACTERS)
  return fits && isStorableText(name)
}

/**
 * Checks a name; configure and push also take the empty queue name.
 * @throws BadNameError
 */
export function checkName(what: string, name: string, emptyToo = false): string {
  if (!isName(name) || (name === '' && !emptyToo)) throw new BadNameError(what)
  return name
}

/** ISO-8601 UTC with six digits after the second, from microseconds since 1970. Queue API 1.4. */
export function isoMicros(us: number): string {
  const ms = Math.floor(us / 1000)
  const rest = String(us - ms * 1000).padStart(3, '0')
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`
}

/** The same for a value that may be absent. */
export function isoMicrosOrNull(us: number | null): string | null {
  return us === null ? null : isoMicros(us)
}
