import express from 'express'
import { material } from './material.ts'
import { type MiddlewareName, middleware } from './middlewares.ts'

// `server.ts NAME ALG`: one route behind one middleware, everything else alike.
const [name, alg] = process.argv.slice(2) as [MiddlewareName, 'HS256' | 'RS256']
const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.use(await middleware(name, alg, material()))
app.get('/api/v1/status', (_req, res) => {
  res.json({ ok: true })
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`listening ${address.port}`)
})
process.on('SIGTERM', () => process.exit(0))
