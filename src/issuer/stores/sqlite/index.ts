import {
  type CommitOutcome,
  GroupCommit,
  type ModuleSpec,
  type SqliteHost,
  siblingUrl,
} from '../../../storage/index.ts'
import type { IssuerStore } from '../../store.ts'
import { ISSUER_MODULE, type ReadName, type StoreCall, type WriteName } from './calls.ts'

/** Names the issuer's part for the store's threads. */
export const ISSUER_SQLITE_MODULE: ModuleSpec = { url: siblingUrl(import.meta.url, 'module') }

type CallName = ReadName | WriteName
type Args<K extends CallName> = Parameters<IssuerStore[K]>
type Answer<K extends CallName> = Awaited<ReturnType<IssuerStore[K]>>

/** Administration is rare and its rows are small; the bound only has to exist. */
const MAX_WAITING = 1000

/** The issuer's store on the embedded database; `host` must hold `ISSUER_SQLITE_MODULE`. */
export function sqliteIssuerStore(host: SqliteHost): IssuerStore {
  const writes = new GroupCommit<StoreCall, CommitOutcome>({
    commit: (batch) => host.commit(ISSUER_MODULE, batch),
    sizeOf: () => 1,
    maxWaiting: MAX_WAITING,
  })
  // The other side of each call is the method of the same name in `calls.ts`, so its type is known.
  async function write<K extends WriteName>(method: K, args: Args<K>): Promise<Answer<K>> {
    const outcome = await writes.submit({ method, args })
    if (!outcome.ok) throw outcome.error
    return outcome.value as Answer<K>
  }
  async function read<K extends ReadName>(method: K, args: Args<K>): Promise<Answer<K>> {
    return (await host.read(ISSUER_MODULE, { method, args })) as Answer<K>
  }
  return {
    keys: (...args) => read('keys', args),
    upsertKey: (...args) => write('upsertKey', args),
    insertKey: (...args) => write('insertKey', args),
    revokeKey: (...args) => write('revokeKey', args),
    herds: (...args) => read('herds', args),
    createHerd: (...args) => write('createHerd', args),
    deleteHerd: (...args) => write('deleteHerd', args),
    devices: (...args) => read('devices', args),
    createDevice: (...args) => write('createDevice', args),
    rotateDevice: (...args) => write('rotateDevice', args),
    deleteDevice: (...args) => write('deleteDevice', args),
    deviceSecret: (...args) => read('deviceSecret', args),
    grant: (...args) => write('grant', args),
    withdraw: (...args) => write('withdraw', args),
    setSuperadmin: (...args) => write('setSuperadmin', args),
    userGrants: (...args) => read('userGrants', args),
  }
}
