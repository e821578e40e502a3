import { readFileSync } from 'node:fs'
import { BootError } from './boot-error.ts'

/** Reads a text file that the variable `name` names. @throws BootError with the system's word for what is wrong */
export function readNamedFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw new BootError(`${name}: "${path}" cannot be read (${code})`, { cause })
  }
}
