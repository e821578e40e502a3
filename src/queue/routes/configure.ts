import type { Router } from 'express'
import { answerJson, HttpError, readJson } from '../../http/index.ts'
import { DEFAULT_OPTIONS, type GivenOptions } from '../model.ts'
import { configure, queueOptionFields } from '../shapes/configure.ts'
import type { QueueRouteParts } from './parts.ts'
import { checked } from './request.ts'

const OPTION_NAMES = Object.keys(queueOptionFields) as readonly (keyof typeof queueOptionFields)[]

type OptionBody = { readonly [K in keyof GivenOptions]?: GivenOptions[K] | undefined }

/** The options that were really given; one under `options` wins over the same key at the top level. */
function givenOptions(top: OptionBody, options: OptionBody): GivenOptions {
  const entries = OPTION_NAMES.map(
    (name) => [name, options[name] === undefined ? top[name] : options[name]] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function isText(body: unknown): boolean {
  return typeof body === 'object' && body !== null && typeof Reflect.get(body, 'queue') === 'string'
}

/** POST /api/v1/configure: creates a queue or changes its options. Queue API 5.1. */
export function configureRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, log, maxBodyBytes } = parts
  let warned = parts.encrypts
  router.post(configure.path, async (req, res) => {
    const raw = await readJson(req, res, maxBodyBytes)
    if (!isText(raw)) throw new HttpError('invalid_request', 'queue is required')
    const body = checked(configure.body, raw)
    const { queueId, partitionId, namespace, task, options } = await engine.configure({
      queue: body.queue,
      namespace: body.namespace ?? null,
      task: body.task ?? null,
      mode: body.mode ?? 'merge',
      options: givenOptions(body, body.options ?? {}),
    })
    if (options.encryptionEnabled && !warned) {
      warned = true
      log.warn('QUEEN_ENCRYPTION_KEY is not set: queues with encryptionEnabled are stored in clear')
    }
    answerJson(res, 200, {
      configured: true,
      queueId,
      partitionId,
      queue: body.queue,
      namespace,
      task,
      options: { ...DEFAULT_OPTIONS, ...options },
    })
  })
}
