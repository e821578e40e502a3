import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What opens a store in this process, and the program that starts a broker in another one. */
const OPENERS =
  /\b(?:startBroker|openStores|open(?:Embedded|Postgres)Stores|open(?:Sqlite|Inline|Postgres)Host|migrateStore|DatabaseSync)\b|bin\/hivegate\.js/

/** Modules and scripts that a module names: imports of both kinds, and `new URL('…', import.meta.url)`. */
const NAMED = /'(\.\.?\/[^']*\.ts)'/g

/** This module, which only names what opens a store. */
const SELF = 'test/support/suites.ts'

/** The module that starts brokers behind the round-robin front. */
const BROKERS = 'test/support/broker.ts'

interface Module {
  readonly opens: boolean
  /** Modules of the tests and the examples; what a test takes from `src` opens nothing by itself. */
  readonly named: readonly string[]
}

const modules = new Map<string, Module>()

function moduleAt(file: string): Module {
  const known = modules.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, file), 'utf8')
  const named = [...text.matchAll(NAMED)]
    .map(([, name = '']) => relative(ROOT, join(ROOT, dirname(file), name)))
    .filter((name) => /^(?:test|examples)\//.test(name))
  const found = { opens: OPENERS.test(text), named }
  modules.set(file, found)
  return found
}

/** A file of the tests and everything below `test` and `examples` that it leads to. */
export function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set([file])
  for (const one of reached) for (const name of moduleAt(one).named) reached.add(name)
  return reached
}

/** Whether a test file, or a module that it leads to, starts a broker or opens a store. */
export function opensStore(file: string): boolean {
  return [...reachedFrom(file)].some((one) => one !== SELF && moduleAt(one).opens)
}

/** The files that match one of the patterns, as paths from the root of the project. */
export function filesOf(patterns: readonly string[]): readonly string[] {
  return globSync([...patterns], { cwd: ROOT }).toSorted()
}

/** Every test file. */
export const ALL_SUITES = filesOf(['test/**/*.test.ts'])

/** Patterns of test files with the reason why they stand there. */
export type Reasons = Readonly<Record<string, string>>

const TWIN =
  'a contract or model on the embedded store; its twin on PostgreSQL runs in the same run'
const OWN_PROCESSES = 'starts its brokers as processes of its own'
const ONE_PROCESS = 'looks at figures, the log or the insides of one process'
const PLAIN_FRONT = 'speaks TLS, which the front does not'
const OWN_DATABASE = 'opens PostgreSQL whatever the switch says'

/** Suites that open a store and yet run once. */
export const ON_ONE_STORE: Reasons = {
  'test/queue/store-sqlite.test.ts': TWIN,
  'test/queue/store-model.test.ts': TWIN,
  'test/queue/stores/*.test.ts': `${TWIN}, or is about the tables of its file`,
  'test/hub/sqlite-store.test.ts': TWIN,
  'test/issuer/store-sqlite.test.ts': TWIN,
  'test/cli/serve/data-folder.test.ts': 'is about the folder of the embedded store',
  'test/storage/host.test.ts': 'is about files and threads of the embedded store',
  'test/assembly/migrate-store.test.ts': 'needs both stores at once',
  'test/queue/routes/api-document.test.ts': 'reads a document that is the same on every store',
  'test/queue/store-*postgres*.test.ts': OWN_DATABASE,
  'test/hub/postgres-store.test.ts': OWN_DATABASE,
  'test/issuer/store-postgres.test.ts': OWN_DATABASE,
  'test/storage/postgres/*.test.ts': OWN_DATABASE,
  'test/cli/serve/database.test.ts': OWN_DATABASE,
  'test/pooler/*.test.ts': `${OWN_DATABASE}, through a pooler`,
  'test/cluster/*.test.ts': `${OWN_DATABASE}, some of them on a server of their own`,
  'test/e2e/postgres-*.test.ts': `${OWN_DATABASE}, on a server of their own that they break`,
}

/** Suites of brokers that run on both stores and yet not before two brokers. */
export const ON_ONE_BROKER: Reasons = {
  'test/docs/readme.test.ts': OWN_PROCESSES,
  'test/e2e/kill.test.ts': OWN_PROCESSES,
  'test/hub/broker/operations.test.ts': ONE_PROCESS,
  'test/queue/metrics/documented.test.ts': ONE_PROCESS,
  'test/queue/routes/analytics.test.ts': ONE_PROCESS,
  'test/queue/dashboard/*.test.ts': ONE_PROCESS,
  'test/queue/routes/gone-clients.test.ts': ONE_PROCESS,
  'test/queue/routes/service.test.ts': ONE_PROCESS,
  'test/queue/routes/status.test.ts': ONE_PROCESS,
  'test/queue/routes/system.test.ts': `${ONE_PROCESS}; switches between two stand in test/e2e/maintenance`,
  'test/hub/broker/tls.test.ts': PLAIN_FRONT,
  'test/hub/browser/*.test.ts': `${PLAIN_FRONT}, and the page for debugging lists the streams of one process`,
}

function without(suites: readonly string[], reasons: Reasons): readonly string[] {
  const out = new Set(filesOf(Object.keys(reasons)))
  return suites.filter((file) => !out.has(file))
}

/** Suites that run a second time with every store on a PostgreSQL database of its own. */
export const BOTH_STORES = without(ALL_SUITES.filter(opensStore), ON_ONE_STORE)

/** Suites of those that run a third time, against two brokers on one database whose requests take turns. */
export const TWO_BROKERS = without(
  BOTH_STORES.filter((file) => reachedFrom(file).has(BROKERS)),
  ON_ONE_BROKER,
)
