import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openReader, openWriter } from './connection.ts'
import { StoreError } from './errors.ts'
import { lockFolder } from './lock.ts'
import { READY_ID, type ThreadReply, type ThreadRequest, type ThreadSetup } from './protocol.ts'

// The host starts this file with a ThreadSetup and sends ThreadRequests only.
const setup: ThreadSetup = workerData
const port = parentPort
if (port === null) throw new Error('this file runs as a worker thread of the store')

function failure(id: number, error: unknown): ThreadReply {
  const failed = error instanceof Error ? error.message : String(error)
  return { id, failed, code: error instanceof StoreError ? error.code : null }
}

let lock: DatabaseSync | undefined
let connection: Connection | undefined

async function open(): Promise<Connection> {
  if (setup.role === 'reader') return openReader(setup.file, setup.specs)
  lock = lockFolder(setup.dataDir)
  return openWriter(setup.file, setup.specs)
}

function answer(open: Connection, request: ThreadRequest): ThreadReply {
  switch (request.do) {
    case 'commit':
      return { id: request.id, outcomes: open.commit(request.module, request.batch) }
    case 'read':
      return { id: request.id, value: open.read(request.module, request.query) }
    case 'ping':
      return { id: request.id, value: null }
    case 'close':
      open.close()
      lock?.close()
      return { id: request.id, value: null }
  }
}

try {
  const opened = await open()
  connection = opened
  port.on('message', (request: ThreadRequest) => {
    try {
      port.postMessage(answer(opened, request))
    } catch (error) {
      port.postMessage(failure(request.id, error))
    }
    if (request.do === 'close') port.close()
  })
  port.postMessage({ id: READY_ID, value: null } satisfies ThreadReply)
} catch (error) {
  connection?.close()
  lock?.close()
  port.postMessage(failure(READY_ID, error))
  port.close()
}
