import { describe } from 'vitest'
import { openTestStore } from '../../support/queue-store.ts'
import { historyContract } from '../store-contract/history.ts'

describe('the embedded store', () => {
  historyContract(openTestStore)
})
