import { closeSilent, type Listener } from '../http/index.ts'

/** How often idle connections are closed while the last answers go out. */
const SWEEP_MS = 50
/** The share of the drain time after which connections that still work are cut. */
const PATIENCE = 0.8
/** The share after which those go that have not begun a request: browsers and balancers open some ahead. */
const SILENT = 0.1

/**
 * Ends a listener: no new connections, answers in progress are finished and close their connection, those
 * without a request are closed soon, and what is still open after most of `drainTimeoutMs` is cut. Resolves when every connection is gone.
 */
export async function closeListener(server: Listener, drainTimeoutMs: number): Promise<void> {
  // A client on a kept-alive connection would otherwise go on sending requests.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs * PATIENCE)
  const hush = setTimeout(() => closeSilent(server), drainTimeoutMs * SILENT)
  await closed
  clearInterval(sweep)
  clearTimeout(hush)
  clearTimeout(cut)
}
