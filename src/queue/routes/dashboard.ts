import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RequestHandler, Response, Router } from 'express'
import { answerJson, HttpError } from '../../http/index.ts'
import type { QueueRouteParts } from './parts.ts'

const PAGE_FOLDER = fileURLToPath(new URL('../dashboard', import.meta.url))
const ASSET_FOLDER = fileURLToPath(new URL('../dashboard/assets', import.meta.url))
/** The plotting library is served from its own package; these two of its files and no others. */
const VENDOR_FOLDER = dirname(createRequire(import.meta.url).resolve('uplot'))
const VENDOR_FILES = new Map([
  ['vendor/uPlot.esm.js', 'uPlot.esm.js'],
  ['vendor/uPlot.min.css', 'uPlot.min.css'],
])
const YEAR_MS = 365 * 24 * 3_600_000

/** Message content is shown on this page: nothing but its own files may run or be asked. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** The page with its asset addresses under the version, so that a cache may keep them for good. */
function pageOf(version: string): string {
  const page = readFileSync(`${PAGE_FOLDER}/index.html`, 'utf8')
  return page.replaceAll('"/assets/', `"/assets/v${version}/`)
}

function sendFile(res: Response, root: string, name: string, lasting: boolean): Promise<void> {
  const cache = lasting ? { immutable: true, maxAge: YEAR_MS } : { maxAge: 0 }
  res.setHeader('X-Content-Type-Options', 'nosniff')
  return new Promise((resolve, reject) => {
    // The root confines the name; whatever cannot be sent is a file that is not there.
    res.sendFile(name, { root, dotfiles: 'ignore', etag: true, ...cache }, (fault) => {
      if (fault && !res.headersSent) reject(new HttpError('not_found'))
      else resolve()
    })
  })
}

function assetHandler(version: string): RequestHandler {
  const lastingPrefix = `v${version}/`
  return async (req, res) => {
    const parts: unknown = req.params['path']
    const path = Array.isArray(parts) ? parts.join('/') : ''
    const lasting = path.startsWith(lastingPrefix)
    const name = lasting ? path.slice(lastingPrefix.length) : path
    const vendor = VENDOR_FILES.get(name)
    if (vendor === undefined) await sendFile(res, ASSET_FOLDER, name, lasting)
    else await sendFile(res, VENDOR_FOLDER, vendor, lasting)
  }
}

/**
 * The dashboard at `/` and its files. With tokens on the page is off, because a browser has none to send (seed:
 * note below "Access levels"); the root then only names the broker.
 */
export function dashboardRoutes(router: Router, { authEnabled, version }: QueueRouteParts): void {
  const page = pageOf(version)
  router.get('/', (_req, res) => {
    if (authEnabled) {
      answerJson(res, 200, { name: 'hivegate', version })
      return
    }
    res.setHeader('Content-Security-Policy', PAGE_POLICY)
    res.setHeader('Cache-Control', 'no-cache')
    res.type('html').send(page)
  })
  router.get('/assets/*path', assetHandler(version))
  router.get('/favicon{*rest}', async (req, res) => {
    if (req.path !== '/favicon.svg') throw new HttpError('not_found')
    await sendFile(res, PAGE_FOLDER, 'favicon.svg', false)
  })
}
