/**
 * URL of the file `name` (without its extension) beside the calling file: `.ts` when the sources run
 * directly, `.js` in the built package. Threads are started by URL, which no compiler rewrites.
 */
export function siblingUrl(importMetaUrl: string, name: string): string {
  const extension = importMetaUrl.endsWith('.ts') ? '.ts' : '.js'
  return new URL(`${name}${extension}`, importMetaUrl).href
}
