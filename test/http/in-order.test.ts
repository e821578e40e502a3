import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { inOrder } from '../../src/http/index.ts'

/** Asks an app with the row in front of a route; tells who ran. */
async function ask(...row: readonly ((ran: string[]) => RequestHandler)[]) {
  const ran: string[] = []
  const app = express()
  app.use(inOrder(...row.map((make) => make(ran))))
  app.get('/', (_req, res) => {
    ran.push('route')
    res.json('served')
  })
  const refuse: ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(418).json(String(error.message))
  }
  app.use(refuse)
  const { status, body } = await request(app).get('/')
  return { status, body, ran }
}

const step =
  (name: string) =>
  (ran: string[]): RequestHandler =>
  (_req, _res, next) => {
    ran.push(name)
    next()
  }

describe('middlewares in order', () => {
  test('run one after the other, then the route', async () => {
    expect(await ask(step('a'), step('b'))).toEqual({
      status: 200,
      body: 'served',
      ran: ['a', 'b', 'route'],
    })
  })

  test('none leaves the route as it is', async () => {
    expect(await ask()).toMatchObject({ status: 200, ran: ['route'] })
  })

  test('one that answers ends the row', async () => {
    const answer = () => (_req: unknown, res: express.Response) => void res.status(204).end()
    expect(await ask(step('a'), answer, step('b'))).toMatchObject({ status: 204, ran: ['a'] })
  })

  test('an error that is passed on ends the row and reaches the error handler', async () => {
    const fail = (): RequestHandler => (_req, _res, next) => next(new Error('passed'))
    expect(await ask(fail, step('b'))).toEqual({ status: 418, body: 'passed', ran: [] })
  })

  test('an error that is thrown does too, also after a step that waits', async () => {
    const wait = (): RequestHandler => (_req, _res, next) => void setImmediate(() => next())
    const fail = (): RequestHandler => () => {
      throw new Error('thrown')
    }
    expect(await ask(fail, step('b'))).toMatchObject({ status: 418, body: 'thrown' })
    expect(await ask(wait, fail, step('b'))).toMatchObject({ status: 418, body: 'thrown' })
  })

  test('a promise that is rejected does too, wherever it stands in the row', async () => {
    const reject = (): RequestHandler => async () => {
      throw new Error('rejected')
    }
    expect(await ask(reject, step('b'))).toEqual({ status: 418, body: 'rejected', ran: [] })
    expect(await ask(step('a'), reject)).toEqual({ status: 418, body: 'rejected', ran: ['a'] })
  })

  test('a word for the router passes the route over', async () => {
    const skip = (): RequestHandler => (_req, _res, next) => next('router')
    const { status, ran } = await ask(skip, step('b'))
    expect({ status, ran }).toEqual({ status: 404, ran: [] })
  })
})
