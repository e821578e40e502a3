import { createServer, type ServerResponse } from 'node:http'

// The yardstick: a bare server that writes the same bytes to the same number of open responses, and keeps nothing.
const open = new Set<ServerResponse>()

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(':\n')
    open.add(res)
    res.on('close', () => open.delete(res))
    return
  }
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const id = 'urn:uuid:0191d3c2-7a61-7c3e-9f0e-3d1f5d0a9b11'
    const frame = Buffer.from(`id: ${id}\ndata: ${form.get('data')}\n\n`)
    for (const stream of open) stream.write(frame)
    res.end(id)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`listening ${address.port}`)
})
process.on('SIGTERM', () => process.exit(0))
