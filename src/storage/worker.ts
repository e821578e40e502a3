import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openReader, openWriter } from './connection.ts'
import { StoreError } from './errors.ts'
import { lockFolder } from './lock.ts'
import { LogSync, logOf } from './log-sync.ts'
import {
  type CommitRequest,
  READY_ID,
  type ThreadReply,
  type ThreadRequest,
  type ThreadSetup,
} from './protocol.ts'

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

/** Of a thread that only holds a lock. */
const NO_DATABASE: Connection = { commit: () => [], read: () => null, close: () => undefined }

async function open(): Promise<Connection> {
  if (setup.role === 'reader') return openReader(setup.file, setup.specs)
  lock = lockFolder(setup.dataDir)
  if (setup.role === 'lock') return NO_DATABASE
  return openWriter(setup.file, setup.specs)
}

const log = new LogSync(logOf(setup.file))

function send(reply: ThreadReply): void {
  port?.postMessage(reply)
}

/** Commits, and answers when the commit is on disk. */
function commit(open: Connection, { id, module, batch }: CommitRequest): void {
  log.check()
  const outcomes = open.commit(module, batch)
  log.flush()
  send({ id, outcomes })
}

function close(open: Connection, id: number): void {
  log.close()
  open.close()
  lock?.close()
  send({ id, value: null })
  port?.close()
}

function answer(open: Connection, request: ThreadRequest): void {
  switch (request.do) {
    case 'commit':
      commit(open, request)
      break
    case 'read':
      send({ id: request.id, value: open.read(request.module, request.query) })
      break
    case 'ping':
      log.check()
      send({ id: request.id, value: null })
      break
    case 'close':
      close(open, request.id)
  }
}

try {
  const opened = await open()
  connection = opened
  port.on('message', (request: ThreadRequest) => {
    try {
      answer(opened, request)
    } catch (error) {
      send(failure(request.id, error))
    }
  })
  send({ id: READY_ID, value: null })
} catch (error) {
  connection?.close()
  lock?.close()
  send(failure(READY_ID, error))
  port.close()
}
