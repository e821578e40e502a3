import { type PgHost, type PgModule, readMigrations } from '../../../storage/index.ts'
import type { IssuerStore } from '../../store.ts'
import { keyStore } from './keys.ts'
import { principalStore } from './principals.ts'

/** The issuer's tables in the PostgreSQL store. */
export const ISSUER_PG_MODULE: PgModule = {
  name: 'issuer',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
}

/**
 * The issuer's store on a PostgreSQL database that several brokers may share; `host` must hold `ISSUER_PG_MODULE`.
 * Administration is rare: each write is a statement of its own.
 */
export function postgresIssuerStore(host: PgHost): IssuerStore {
  return { ...keyStore(host), ...principalStore(host) }
}
