import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiPath, operationKey } from '../../../src/http/openapi.ts'
import { ApiDocument } from '../../support/api-document.ts'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'
import { HUB_PATHS, ISSUER_PATHS, ROUTE_ROWS } from '../../support/route-rows.ts'

let broker: TestBroker
let api: ApiDocument
beforeAll(async () => {
  broker = await startTestBroker()
  api = await ApiDocument.load(broker.call)
})
afterAll(() => broker.stop())

describe('GET /openapi.json', () => {
  it('is an OpenAPI 3.1 document that is public and holds every row of the table', () => {
    expect(api.document.openapi).toBe('3.1.0')
    for (const { method, path, level } of ROUTE_ROWS) {
      const operation = api.document.paths[openApiPath(path)]?.[operationKey(method)]
      expect(operation?.['x-access-level'], `${method} ${path}`).toBe(level)
    }
    const count = Object.values(api.document.paths).flatMap((item) => Object.keys(item)).length
    expect(count).toBe(ROUTE_ROWS.length)
  })

  it('holds JSON Schemas only', () => {
    expect(api.compileAll()).toBeGreaterThan(100)
  })

  it('lists the 401 and the 403 of every operation that is not public', () => {
    for (const [path, item] of Object.entries(api.document.paths)) {
      for (const operation of Object.values(item)) {
        // The hub's routes are public at the gate and guard themselves.
        if (HUB_PATHS.test(path)) continue
        // The issuer's functions are public at the gate and have refusals of their own.
        if (ISSUER_PATHS.test(path)) continue
        const guarded = operation['x-access-level'] !== 'public'
        const listed = ['401', '403'].filter((status) => status in operation.responses)
        // The one public route with a 401 of its own.
        const wanted = guarded ? ['401', '403'] : path === '/auth/me' ? ['401'] : []
        expect(listed, path).toEqual(wanted)
      }
    }
  })

  it('says of every route that it can succeed', () => {
    for (const [path, item] of Object.entries(api.document.paths)) {
      for (const [method, { responses }] of Object.entries(item)) {
        const good = Object.keys(responses).some((status) => status.startsWith('2'))
        expect(good, `${method} ${path}`).toBe(true)
      }
    }
  })
})
