import { v4 } from 'uuid'
import type { DatabaseUrl } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import { type PgHost, sqlState } from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import { placeOf, reasonOf } from './database-fault.ts'

const CHANNEL = 'hivegate_check'
/** A notification takes milliseconds; this is longer than any pause of a busy machine. */
const HEARD_WITHIN_MS = 10_000

/** SQLSTATE classes of a server that is there and does not let us in: password, pg_hba, no such database. */
const NOT_LET_IN = /^(28|3D)/

/** What a check works with. */
export interface ListenCheckParts {
  readonly url: DatabaseUrl
  readonly listenUrl: DatabaseUrl
  readonly log: Logger
  /** Longest wait for a notification, in ms. */
  readonly withinMs?: number
}

/**
 * Checks that the connection of `DATABASE_LISTEN_URL` hears what is notified through `DATABASE_URL`: it may lead to
 * another database, or through a pooler, and wake-ups would be lost without a word. It checks at boot, and again
 * after every reconnect, because that may end elsewhere.
 */
export class ListenCheck {
  readonly #host: PgHost
  readonly #parts: ListenCheckParts
  readonly #first = Promise.withResolvers<void>()
  #token: string | undefined
  #timer: NodeJS.Timeout | undefined
  #atBoot = true

  constructor(host: PgHost, parts: ListenCheckParts) {
    this.#host = host
    this.#parts = parts
  }

  /**
   * The host, after the first check. A connection that cannot be made is warned about and checked when it can be.
   * @throws BootError, with the host closed, when what is notified is not heard or the server refuses us
   */
  async proven(): Promise<PgHost> {
    const host = this.#host
    host.listen(CHANNEL, {
      heard: (token) => {
        if (token === this.#token) this.#heard()
      },
      restored: () => void this.#send(),
    })
    try {
      await this.#first.promise
    } catch (error) {
      await host.close()
      throw error
    }
    return {
      ...host,
      close: () => {
        this.#forget()
        return host.close()
      },
    }
  }

  /** The listening connection was lost, or could not be made. */
  lost(error: unknown): void {
    this.#forget()
    if (!this.#atBoot) return
    const why = `DATABASE_LISTEN_URL: the database ${placeOf(this.#parts.listenUrl)}`
    if (NOT_LET_IN.test(sqlState(error) ?? '')) {
      this.#first.reject(new BootError(`${why} cannot be used (${reasonOf(error)})`))
    } else {
      this.#parts.log.warn(`${why} cannot be reached; it is checked as soon as it can be`)
      this.#first.resolve()
    }
    this.#atBoot = false
  }

  async #send(): Promise<void> {
    this.#forget()
    const token = v4()
    this.#token = token
    try {
      await this.#host.notify(CHANNEL, token)
    } catch (error) {
      if (this.#token === token) this.lost(error)
      return
    }
    // It may have been heard before the statement that sent it was answered.
    if (this.#token !== token) return
    const { withinMs = HEARD_WITHIN_MS } = this.#parts
    this.#timer = setTimeout(() => this.#unheard(), withinMs)
  }

  #heard(): void {
    this.#forget()
    this.#atBoot = false
    this.#first.resolve()
  }

  #unheard(): void {
    this.#forget()
    const { url, listenUrl, log } = this.#parts
    const message =
      `DATABASE_LISTEN_URL: ${placeOf(listenUrl)} does not hear what is notified through DATABASE_URL ` +
      `(${placeOf(url)}); it has to lead to the same database, past any pooler`
    if (this.#atBoot) this.#first.reject(new BootError(message))
    else log.error(message)
    this.#atBoot = false
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#token = undefined
  }
}
