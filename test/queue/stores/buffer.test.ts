import { describe } from 'vitest'
import { openTestStore } from '../../support/queue-store.ts'
import { bufferContract } from '../store-contract/buffer.ts'

describe('the embedded store', () => {
  bufferContract(openTestStore)
})
