import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openApiDocument, openApiPath } from '../../src/http/openapi.ts'
import { operation } from '../../src/http/operation.ts'
import { integerParam } from '../../src/http/query.ts'

const INFO = { title: 't', version: '1', description: 'd' }
const route = { method: 'GET', path: '/a/:b', level: 'read-only', summary: 'reads' }

const readA = operation({
  method: 'GET',
  path: '/a/:b',
  query: z.object({ limit: integerParam(5, 0) }),
  answers: { 200: { about: 'fine', json: z.strictObject({ a: z.number() }) } },
})

describe('the API document', () => {
  it('spells members of a pattern in braces', () => {
    expect(openApiPath('/a/:b/c/:dE/*rest')).toBe('/a/{b}/c/{dE}/{rest}')
    expect(openApiPath('/favicon{*rest}')).toBe('/favicon{rest}')
  })

  it('lists the level and the 401 and 403 of a guarded operation', () => {
    const document = openApiDocument(INFO, [route], [readA])
    expect(document).toMatchObject({
      openapi: '3.1.0',
      paths: {
        '/a/{b}': {
          get: {
            summary: 'reads',
            'x-access-level': 'read-only',
            security: [{ bearer: [] }],
            parameters: [
              { name: 'b', in: 'path', required: true },
              { name: 'limit', in: 'query', required: false, schema: { type: 'integer' } },
            ],
            responses: {
              200: {
                description: 'fine',
                content: {
                  'application/json': {
                    schema: { additionalProperties: false, required: ['a'] },
                  },
                },
              },
              401: { $ref: '#/components/responses/Unauthorized' },
              403: { $ref: '#/components/responses/Forbidden' },
            },
          },
        },
      },
    })
  })

  it('lists no 401 and no 403 for a public operation', () => {
    const document = openApiDocument(INFO, [{ ...route, level: 'public' }], [readA])
    expect(JSON.stringify(document['paths'])).not.toMatch(/Unauthorized|Forbidden/)
  })

  it('keeps two methods of one path side by side', () => {
    const document = openApiDocument(INFO, [route, { ...route, method: 'DELETE' }], [readA])
    expect(document['paths']).toMatchObject({ '/a/{b}': { get: {}, delete: {} } })
  })
})
