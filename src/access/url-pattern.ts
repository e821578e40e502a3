import { type ComponentTest, compileComponent } from './url-component.ts'

/** Reads one component of a URL in the form in which URL patterns see it. */
type ComponentReader = (url: URL) => string

/** Components without segments of their own; URL Pattern standard, "default options". */
const WHOLE = { delimiter: '', prefix: '' }
const HOSTNAME = { delimiter: '.', prefix: '' }
const PATHNAME = { delimiter: '/', prefix: '/' }

/** The schemes whose paths are lists of segments; URL standard, "special scheme". */
const SPECIAL_SCHEMES = ['ftp', 'file', 'http', 'https', 'ws', 'wss']

/** Every component but the path, cheapest and most telling first. */
const COMPONENTS = [
  ['hostname', HOSTNAME, (url) => url.hostname],
  ['port', WHOLE, (url) => url.port],
  ['search', WHOLE, (url) => url.search.slice(1)],
  ['hash', WHOLE, (url) => url.hash.slice(1)],
  ['username', WHOLE, (url) => url.username],
  ['password', WHOLE, (url) => url.password],
] as const satisfies readonly (readonly [keyof URLPattern, typeof WHOLE, ComponentReader])[]

function compileComponents(native: URLPattern): readonly [ComponentTest, ComponentReader][] {
  const protocol = compileComponent(native.protocol, WHOLE)
  const pathOptions = SPECIAL_SCHEMES.some(protocol) ? PATHNAME : WHOLE
  return [
    [protocol, (url) => url.protocol.slice(0, -1)],
    [compileComponent(native.pathname, pathOptions), (url) => url.pathname],
    ...COMPONENTS.map(([name, options, read]): [ComponentTest, ComponentReader] => [
      compileComponent(native[name], options),
      read,
    ]),
  ]
}

/**
 * Compiles a URL pattern (WHATWG URL Pattern standard, `ignoreCase` never set) against the hub URL.
 *
 * The native URLPattern reads and canonicalizes the pattern but never evaluates it: its expressions run on
 * a backtracking engine, where one hostile pattern stops the process. They are evaluated in linear time here.
 * @throws TypeError or SyntaxError when the pattern is malformed or has no linear-time form
 */
export function compileUrlPattern(
  pattern: string,
  baseUrl: string,
): (topic: URL | string) => boolean {
  const tests = compileComponents(new URLPattern(pattern, baseUrl))
  return (topic) => {
    const url = typeof topic === 'string' ? URL.parse(topic, baseUrl) : topic
    return url !== null && tests.every(([test, read]) => test(read(url)))
  }
}
