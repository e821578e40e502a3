import { describe } from 'vitest'
import { openTestStore } from '../../support/queue-store.ts'
import { streamContract } from '../store-contract/streams.ts'

describe('the embedded store', () => {
  streamContract(openTestStore)
})
