import { connect } from 'node:net'
import { quantile } from '../harness/stats.ts'

// `audience.ts PORT COUNT UPDATES QUERY`: COUNT raw connections that read UPDATES updates each. A process of its own,
// so that reading takes no time from the publisher. Tells its parent `open`, then the figures.
const [port = '', count = '', updates = '', query = ''] = process.argv.slice(2)
const expected = Number(count) * Number(updates)
const DATA = 'data: '
const latencies: number[] = []
let opened = 0
let got = 0

function delivered(frame: string): void {
  const at = frame.indexOf(DATA)
  if (at === -1) return
  got += 1
  latencies.push(
    performance.timeOrigin + performance.now() - Number.parseFloat(frame.slice(at + 6)),
  )
  if (got === expected) {
    process.send?.({ p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) })
  }
}

for (let subscriber = 0; subscriber < Number(count); subscriber += 1) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(`GET /.well-known/mercure?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })
  let rest: string | undefined
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    if (rest === undefined) {
      rest = ''
      opened += 1
      if (opened === Number(count)) process.send?.('open')
      return
    }
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) delivered(frame)
  })
}
