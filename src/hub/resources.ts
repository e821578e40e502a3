import type { Request, Response } from 'express'
import { type HubContext, verifies } from './context.ts'
import { HUB_PATH, METADATA_PATH } from './reserved.ts'
import { showDebugger } from './routes/debugger.ts'
import { showMetadata } from './routes/metadata.ts'
import { publish } from './routes/publish.ts'
import { subscribe } from './routes/subscribe.ts'
import { listSubscriptions } from './routes/subscriptions.ts'
import { SUBSCRIPTIONS_PATH } from './subscriptions.ts'

/** Serves one request; what it throws becomes an answer in `answerError`. */
export type Handler = (hub: HubContext, req: Request, res: Response) => void | Promise<void>

/** One method of a resource, and when it exists. HEAD goes with GET. */
export interface Operation {
  readonly method: 'GET' | 'QUERY' | 'POST'
  readonly exists: (hub: HubContext) => boolean
  readonly handler: Handler
}

/** One kind of path with what can be done there. */
export interface Resource {
  /** Patterns under which it is registered with Express. */
  readonly paths: readonly string[]
  /** The same for the path as sent, where Express cannot: a variable may be empty. */
  readonly shape: RegExp
  readonly operations: readonly Operation[]
}

const canSubscribe = (hub: HubContext): boolean =>
  hub.config.anonymous || verifies(hub, 'subscriber')
const canPublish = (hub: HubContext): boolean => verifies(hub, 'publisher')
const isProtected = (hub: HubContext): boolean => canPublish(hub) || verifies(hub, 'subscriber')
const listsSubscriptions = ({ config }: HubContext): boolean => config.subscriptions
const hasDebugger = ({ config }: HubContext): boolean => config.debugger

/** Every resource of the hub (protocol, "routes at a glance"). */
export const RESOURCES: readonly Resource[] = [
  {
    paths: [HUB_PATH],
    shape: /^\/\.well-known\/mercure$/,
    operations: [
      { method: 'GET', exists: canSubscribe, handler: subscribe },
      { method: 'QUERY', exists: canSubscribe, handler: subscribe },
      { method: 'POST', exists: canPublish, handler: publish },
    ],
  },
  {
    paths: [METADATA_PATH],
    shape: /^\/\.well-known\/oauth-protected-resource\/\.well-known\/mercure$/,
    operations: [{ method: 'GET', exists: isProtected, handler: showMetadata }],
  },
  {
    paths: [
      SUBSCRIPTIONS_PATH,
      `${SUBSCRIPTIONS_PATH}/:match_type/:match`,
      `${SUBSCRIPTIONS_PATH}/:match_type/:match/:subscriber`,
    ],
    shape: /^\/\.well-known\/mercure\/subscriptions(?:\/[^/]+\/[^/]*(?:\/[^/]+)?)?$/,
    operations: [{ method: 'GET', exists: listsSubscriptions, handler: listSubscriptions }],
  },
  {
    paths: [`${HUB_PATH}/debug/`, `${HUB_PATH}/debug/:file`],
    shape: /^\/\.well-known\/mercure\/debug\/[^/]*$/,
    operations: [{ method: 'GET', exists: hasDebugger, handler: showDebugger }],
  },
]

/** Whether a path, as sent, is the hub's to answer. */
export function isHubPath(path: string): boolean {
  return path === HUB_PATH || path.startsWith(`${HUB_PATH}/`) || path === METADATA_PATH
}
