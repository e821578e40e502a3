import { describe } from 'vitest'
import { historyContract } from '../queue/store-contract/history.ts'
import { throughPooler } from '../support/postgres/pooler.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

// A file of its own: the ids of traces never step back in a process, whatever clock a suite has had before.
describe('the queue through a pooler in transaction mode', () => {
  historyContract(new PostgresStores(throughPooler()).openTestStore)
})
