import type { PayloadCipher } from '../cipher.ts'
import type { JsonText } from '../model.ts'
import type { FlagName, Reads } from '../store.ts'

/** A yes or no as a column holds it: SQLite has no booleans and keeps 0 or 1. */
export type StoredFlag = boolean | number

/** Whether a column says yes. */
export function isSet(flag: StoredFlag): boolean {
  return flag === true || flag === 1
}

/** A payload as it is kept, and whether it is kept encrypted. */
export interface SealedColumns {
  readonly payload: JsonText
  readonly encrypted: StoredFlag
}

/** The payload of a row in clear. @throws when it was encrypted with another key */
export function openedPayload(row: SealedColumns, cipher: PayloadCipher): JsonText {
  return isSet(row.encrypted) ? cipher.open(row.payload) : row.payload
}

/** The stored switches of queue API 13; one that was never set is off. */
export function switchesOf(
  rows: readonly { readonly name: string; readonly value: StoredFlag }[],
): Reads['flags']['result'] {
  const stored = new Map(rows.map(({ name, value }) => [name, isSet(value)]))
  const isOn = (name: FlagName): boolean => stored.get(name) ?? false
  return { pushMaintenance: isOn('pushMaintenance'), popMaintenance: isOn('popMaintenance') }
}
