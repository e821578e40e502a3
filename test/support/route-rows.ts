import { readFileSync } from 'node:fs'

/** A route of the table as the file has it. */
export interface RouteRowText {
  readonly method: string
  readonly path: string
  readonly level: string
}

const TABLE = new URL('../../routes.table.json', import.meta.url)

/** Every route of `routes.table.json`. */
export const ROUTE_ROWS = (
  JSON.parse(readFileSync(TABLE, 'utf8')) as { readonly routes: readonly RouteRowText[] }
).routes

/** Paths of the hub, which the queue's suites leave to its own. */
export const HUB_PATHS = /^\/\.well-known\//

/** Paths of the issuer. */
export const ISSUER_PATHS = /^\/(functions\/v1|rest\/v1|pubsub|api\/v1\/system\/pubsub)\//
