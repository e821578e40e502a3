import { describe } from 'vitest'
import { openTestStore } from '../../support/queue-store.ts'
import { traceContract } from '../store-contract/traces.ts'

describe('the embedded store', () => {
  traceContract(openTestStore)
})
