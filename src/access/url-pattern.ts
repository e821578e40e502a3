/** Compiles a URL pattern (WHATWG URL Pattern, `ignoreCase` never set) against the hub URL. */
export function compileUrlPattern(pattern: string, baseUrl: string): (topic: string) => boolean {
  const p = new URLPattern(pattern, baseUrl)
  return (topic) => p.test(topic, baseUrl)
}
