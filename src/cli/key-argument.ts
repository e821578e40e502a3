import { readFileSync } from 'node:fs'

const STDIN_FD = 0

/**
 * The value of an option that may hold a secret: `@path` reads a file, `@-` standard input, anything else is taken as
 * it is. What is read loses one line break at its end, which editors add and nobody means.
 * @throws Error naming the option, never the value
 */
export function readArgument(option: string, value: string): string {
  if (!value.startsWith('@')) return value
  const source = value.slice(1)
  try {
    const text = readFileSync(source === '-' ? STDIN_FD : source, 'utf8')
    return text.replace(/\n$/, '').replace(/\r$/, '')
  } catch (cause) {
    const place = source === '-' ? 'standard input' : source
    throw new Error(`${option}: ${place} cannot be read`, { cause })
  }
}
