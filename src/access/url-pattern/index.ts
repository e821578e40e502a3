import { CANONICALIZE } from './canonical.ts'
import {
  type ComponentTest,
  compileComponent,
  compileProtocol,
  matchesSpecialScheme,
} from './component.ts'
import type { ComponentRules } from './component-parser.ts'
import { splitPattern } from './constructor-string.ts'
import { type CompleteInit, completeInit } from './init.ts'

/** Reads a topic against the hub URL; null when it is no URL. */
export type TopicReader = (topic: string) => URL | null

/** A URL pattern that is ready to be asked. */
export interface UrlPatternTest {
  /** Automaton states that a character of a topic may visit, of all components together. */
  readonly states: number
  matches(topic: string): boolean
}

/** Reads one component of a URL in the form in which URL patterns see it. */
type ComponentReader = (url: URL) => string

function whole(name: 'username' | 'password' | 'port' | 'search' | 'hash'): ComponentRules {
  return { delimiter: '', prefix: '', canonicalize: CANONICALIZE[name] }
}

function hostnameRules(pattern: string): ComponentRules {
  // URL Pattern standard, "hostname pattern is an IPv6 address": a bracket alone is none.
  const ipv6 = pattern.length > 1 && /^(?:\{|\\)?\[/.test(pattern)
  const canonicalize = ipv6 ? CANONICALIZE.ipv6Hostname : CANONICALIZE.hostname
  return { delimiter: '.', prefix: '', canonicalize }
}

function pathnameRules(protocol: string): ComponentRules {
  return matchesSpecialScheme(protocol)
    ? { delimiter: '/', prefix: '/', canonicalize: CANONICALIZE.pathname }
    : { delimiter: '', prefix: '', canonicalize: CANONICALIZE.opaquePathname }
}

/** Every component with its reader, cheapest and most telling first. */
function compileComponents(
  init: CompleteInit,
): readonly (readonly [ComponentTest, ComponentReader])[] {
  return [
    [compileProtocol(init.protocol), (url) => url.protocol.slice(0, -1)],
    [compileComponent(init.hostname, hostnameRules(init.hostname)), (url) => url.hostname],
    [compileComponent(init.pathname, pathnameRules(init.protocol)), (url) => url.pathname],
    [compileComponent(init.port, whole('port')), (url) => url.port],
    [compileComponent(init.search, whole('search')), (url) => url.search.slice(1)],
    [compileComponent(init.hash, whole('hash')), (url) => url.hash.slice(1)],
    [compileComponent(init.username, whole('username')), (url) => url.username],
    [compileComponent(init.password, whole('password')), (url) => url.password],
  ]
}

/**
 * Compiles a URL pattern (WHATWG URL Pattern standard, `ignoreCase` never set) against the hub URL.
 *
 * The native URLPattern is not used: its expressions run on a backtracking engine, where one hostile pattern
 * stops the process, and the one of Node 24 ends it on some patterns (`urn\:/a{a(b+)}`). Tests hold the two
 * against each other.
 * @param read reads topics; patterns that share one have a topic read once for all of them
 * @throws Error of several kinds when the pattern is malformed or has no linear-time form
 */
export function compileUrlPattern(
  pattern: string,
  baseUrl: string,
  read: TopicReader = (topic) => URL.parse(topic, baseUrl),
): UrlPatternTest {
  const components = compileComponents(completeInit(splitPattern(pattern), baseUrl))
  return {
    states: components.reduce((sum, [test]) => sum + test.states, 0),
    matches(topic) {
      const url = read(topic)
      return url !== null && components.every(([test, part]) => test.fits(part(url)))
    },
  }
}
