import { describe } from 'vitest'
import { openTestStore } from '../../support/queue-store.ts'
import { messageContract } from '../store-contract/messages.ts'

describe('the embedded store', () => {
  messageContract(openTestStore)
})
