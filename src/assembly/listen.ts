import type { AddressInfo } from 'node:net'
import type { Listener } from '../http/index.ts'
import { BootError } from './boot-error.ts'

const REASONS = new Map([
  ['EADDRINUSE', 'PORT: another process already listens there'],
  ['EACCES', 'PORT: this user may not listen there'],
  ['EADDRNOTAVAIL', 'HOST: no address of this machine'],
  ['ENOTFOUND', 'HOST: the name is not known'],
])

/**
 * Binds a server and resolves to the port it got.
 * @throws BootError naming the variable that is at fault
 */
export function listen(server: Listener, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      const reason = REASONS.get(error.code ?? '') ?? `HOST, PORT: ${error.code ?? 'cannot listen'}`
      reject(new BootError(`${reason} (${host}:${port})`, { cause: error }))
    }
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      // A listening TCP server has an address with a port.
      resolve((server.address() as AddressInfo).port)
    })
  })
}
