import type { IssuerStore } from '../../store.ts'

/** The module's name in the embedded store. */
export const ISSUER_MODULE = 'issuer'

/** A store method without its promise, as it runs inside the store's thread. */
type Sync<F> = F extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never

/** The methods of the port that only read. */
export type ReadName = 'keys' | 'herds' | 'devices' | 'deviceSecret' | 'userGrants'
export type WriteName = Exclude<keyof IssuerStore, ReadName | 'onKeysChanged'>

export type IssuerReads = { readonly [K in ReadName]: Sync<IssuerStore[K]> }
export type IssuerWrites = { readonly [K in WriteName]: Sync<IssuerStore[K]> }

/** One call of a store method as it crosses the thread: plain data. */
export interface StoreCall {
  readonly method: string
  readonly args: readonly unknown[]
}

/** True for a call that this package's adapter has made. */
export function isStoreCall(value: unknown): value is StoreCall {
  return (
    typeof value === 'object' &&
    value !== null &&
    'method' in value &&
    typeof value.method === 'string' &&
    'args' in value &&
    Array.isArray(value.args)
  )
}
