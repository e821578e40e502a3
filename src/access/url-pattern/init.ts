import { SPECIAL_SCHEMES } from './component.ts'
import { COMPONENT_NAMES, type ComponentName, type PatternInit } from './constructor-string.ts'

/** Pattern text for every component. */
export type CompleteInit = Readonly<Record<ComponentName, string>>

/** Text taken from a URL means itself: signs of the pattern syntax are escaped. */
function escaped(text: string): string {
  return text.replace(/[+*?:{}()\\]/g, '\\$&')
}

/** What the base URL gives for each component that a relative pattern may leave out. */
function baseParts(base: URL): PatternInit {
  return {
    protocol: escaped(base.protocol.slice(0, -1)),
    hostname: escaped(base.hostname),
    port: base.port,
    pathname: escaped(base.pathname),
    search: escaped(base.search.slice(1)),
    hash: escaped(base.hash.slice(1)),
  }
}

function isAbsolutePath(text: string): boolean {
  return /^(?:\\?|\{)\//.test(text)
}

/** A component is inherited only while nothing before it, in the order of a URL, was given. */
function inherited(init: PatternInit, base: PatternInit): PatternInit {
  const result: PatternInit = {}
  for (const name of COMPONENT_NAMES) {
    const isIdentity = name === 'username' || name === 'password'
    if (!isIdentity && init[name] !== undefined) break
    const value = base[name]
    if (value !== undefined) result[name] = value
  }
  return result
}

/**
 * Fills in what a pattern leaves out: from the base URL where the standard inherits, else with `*`.
 * URL Pattern standard, "process a URLPatternInit" for patterns.
 */
export function completeInit(init: PatternInit, baseUrl: string): CompleteInit {
  const base = baseParts(new URL(baseUrl))
  const result: PatternInit = { ...inherited(init, base), ...init }
  if (init.pathname !== undefined && !isAbsolutePath(init.pathname)) {
    const basePath = base.pathname ?? ''
    result.pathname = basePath.slice(0, basePath.lastIndexOf('/') + 1) + init.pathname
  }
  const complete = Object.fromEntries(
    COMPONENT_NAMES.map((name) => [name, result[name] ?? '*']),
  ) as CompleteInit // made from every name just above
  const defaultPort = SPECIAL_SCHEMES.get(complete.protocol)
  return complete.port === defaultPort ? { ...complete, port: '' } : complete
}
