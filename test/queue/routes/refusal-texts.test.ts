import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checked } from '../../../src/queue/routes/request.ts'

const schema = z.object({
  operations: z.array(z.string().max(3)).min(1).max(2),
  seconds: z.number().min(1).max(9),
})

describe('the text of a 400', () => {
  it.each([
    [{ operations: [], seconds: 1 }, 'operations must have a length of at least 1'],
    [{ operations: ['a', 'b', 'c'], seconds: 1 }, 'operations must have a length of at most 2'],
    [{ operations: ['long'], seconds: 1 }, 'operations[0] must have a length of at most 3'],
    [{ operations: ['a'], seconds: 0 }, 'seconds must be at least 1'],
    [{ operations: ['a'], seconds: 10 }, 'seconds must be at most 9'],
    [{ operations: ['a'] }, 'seconds is required'],
    [{ operations: 'a', seconds: 1 }, 'operations must be an array'],
  ])('says of %j in plain words: %s', (body, text) => {
    expect(() => checked(schema, body)).toThrow(text)
  })
})
