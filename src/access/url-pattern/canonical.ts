/** Brings the fixed text of one component into the form that a parsed URL has. */
export type Canonicalize = (text: string) => string

/**
 * URL standard, "forbidden domain code point", without controls and the signs that end a host. `%` is missing
 * because it may begin an escape, which the host parser decodes and then judges.
 */
const FORBIDDEN_IN_HOST = /[ :<>@[\]^|]/
const IPV6_TEXT = /^[0-9a-fA-F:[\]]*$/
const MAX_PORT = 65_535

/** A URL whose components can be set one by one. */
function dummy(): URL {
  return new URL('https://dummy.invalid/')
}

/** Empty text stays empty in every component. */
function unlessEmpty(canonicalize: Canonicalize): Canonicalize {
  return (text) => (text === '' ? '' : canonicalize(text))
}

function hostname(text: string): string {
  // The URL parser ends a host at these signs, also when it is asked for the host alone.
  const host = text.split(/[/?#\\]/, 1)[0] ?? ''
  if (host === '' || FORBIDDEN_IN_HOST.test(host)) throw new TypeError('forbidden host character')
  const url = dummy()
  url.hostname = host
  // A setter ignores what it cannot use.
  if (url.hostname === dummy().hostname && host !== url.hostname) throw new TypeError('bad host')
  return url.hostname
}

function ipv6Hostname(text: string): string {
  if (!IPV6_TEXT.test(text)) throw new TypeError('bad IPv6 address')
  return text.toLowerCase()
}

function port(text: string): string {
  const digits = /^[0-9]+/.exec(text)?.[0]
  if (digits === undefined || Number(digits) > MAX_PORT) throw new TypeError('bad port')
  return String(Number(digits))
}

function pathname(text: string): string {
  const url = dummy()
  const relative = !text.startsWith('/')
  url.pathname = relative ? `/-${text}` : text
  return relative ? url.pathname.slice(2) : url.pathname
}

function withSetter(name: 'username' | 'password'): Canonicalize {
  return (text) => {
    const url = dummy()
    url[name] = text
    return url[name]
  }
}

/**
 * URL Pattern standard, "canonicalization": one row per component. A path is a list of segments or, for
 * schemes that are not special, opaque text.
 */
export const CANONICALIZE = {
  protocol: unlessEmpty((text) => new URL(`${text}://dummy.invalid`).protocol.slice(0, -1)),
  username: unlessEmpty(withSetter('username')),
  password: unlessEmpty(withSetter('password')),
  hostname: unlessEmpty(hostname),
  ipv6Hostname: unlessEmpty(ipv6Hostname),
  port: unlessEmpty(port),
  pathname: unlessEmpty(pathname),
  opaquePathname: unlessEmpty((text) => new URL(`data:${text}`).pathname),
  search: unlessEmpty((text) => {
    const url = dummy()
    url.search = `?${text}`
    return url.search.slice(1)
  }),
  hash: unlessEmpty((text) => {
    const url = dummy()
    url.hash = `#${text}`
    return url.hash.slice(1)
  }),
} as const satisfies Record<string, Canonicalize>
