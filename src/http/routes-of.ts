import type { Router } from 'express'
import type { RegisteredRoute } from '../access/index.ts'

/** The parts of a router layer that are read here. */
interface Layer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> }
  readonly handle: { readonly stack?: readonly Layer[] }
  readonly rawPath?: unknown
}

function methodsOf(methods: Readonly<Record<string, boolean>>): readonly string[] {
  if (methods['_all']) return ['*']
  // HEAD counts as GET in every rule; a route of its own only refuses it.
  return Object.keys(methods)
    .filter((method) => method !== 'head')
    .map((method) => method.toUpperCase())
}

/**
 * Lists what is really registered on a router and on the routers mounted in it, by reading the router itself:
 * nothing can be served without standing in this list.
 * @throws Error for a router mounted below a path: its routes would be judged under another name than they have
 */
export function routesOf(router: Pick<Router, 'stack'>): readonly RegisteredRoute[] {
  // The declared layer type leaves out what express keeps of nested routers and mount paths.
  const layers = router.stack as unknown as readonly Layer[]
  return layers.flatMap((layer) => {
    if (layer.route) {
      const path = String(layer.route.path)
      return methodsOf(layer.route.methods).map((method) => ({ method, path }))
    }
    const nested = layer.handle.stack
    if (!nested) return []
    if (layer.rawPath !== undefined && layer.rawPath !== '/') {
      throw new Error(`routers are mounted at / only, found one at ${String(layer.rawPath)}`)
    }
    return routesOf({ stack: nested } as unknown as Pick<Router, 'stack'>)
  })
}
