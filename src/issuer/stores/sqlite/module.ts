import { readMigrations, type StoreModule, type StoreSession } from '../../../storage/index.ts'
import { ISSUER_MODULE, isStoreCall } from './calls.ts'
import { issuerReads } from './reads.ts'
import { issuerWrites } from './writes.ts'

/** Runs one call on the methods of one side; the method name comes from this package's own adapter. */
function runner(methods: object): (call: unknown) => unknown {
  const known = new Map<string, unknown>(Object.entries(methods))
  return (call) => {
    const method = isStoreCall(call) ? known.get(call.method) : undefined
    if (!isStoreCall(call) || typeof method !== 'function') {
      throw new TypeError('the issuer store has no such method')
    }
    return method(...call.args)
  }
}

/** The issuer's part of the embedded store; see `StoreModule`. */
export const storeModule: StoreModule = {
  name: ISSUER_MODULE,
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
  open(db): StoreSession {
    const write = runner(issuerWrites(db))
    const read = runner(issuerReads(db))
    return { write: (batch) => batch.map(write), read }
  },
}
