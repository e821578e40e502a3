import type { Request, RequestHandler } from 'express'
import { describe, expectTypeOf, it } from 'vitest'
import {
  type AuthConfig,
  brokerAuth,
  type ConfigError,
  loadAuthConfig,
  type RouteTableInput,
} from '../../src/auth.ts'

type Options = NonNullable<Parameters<typeof brokerAuth>[1]>

describe('the types of hivegate/auth', () => {
  it('req.auth is declared on every Express request, absent until a gate has run', () => {
    type Auth = NonNullable<Request['auth']>
    expectTypeOf<undefined>().toExtend<Request['auth']>()
    expectTypeOf<Auth['sub']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Auth['roles']>().toExtend<readonly string[]>()
    expectTypeOf<NonNullable<Auth['claims']>>().toExtend<Readonly<Record<string, unknown>>>()
    expectTypeOf<NonNullable<Auth['header']>>().toHaveProperty('alg')
  })

  it('brokerAuth takes what loadAuthConfig gives, and yields an Express handler', () => {
    expectTypeOf(loadAuthConfig).returns.toEqualTypeOf<AuthConfig>()
    expectTypeOf(brokerAuth).parameter(0).toEqualTypeOf<AuthConfig>()
    expectTypeOf(brokerAuth).returns.toExtend<RequestHandler>()
    expectTypeOf<{
      clock: { now(): number }
      basePath: string
      level: 'admin'
    }>().toExtend<Options>()
  })

  it('rules made with `as const`, or read-only in another way, compile', () => {
    const rules = {
      rules: [
        { methods: ['GET'], prefix: '/reports/', level: 'read-only' },
        { methods: '*', path: '/ping', level: 'public' },
      ],
      default: 'admin',
    } as const
    expectTypeOf(rules).toExtend<RouteTableInput>()
    expectTypeOf<{ readonly rules: typeof rules }>().toExtend<Options>()
    expectTypeOf<Readonly<RouteTableInput>>().toExtend<RouteTableInput>()
  })

  it('a level that does not exist does not compile, nor does a rule without one', () => {
    expectTypeOf<{ level: 'root' }>().not.toExtend<Options>()
    expectTypeOf<{ rules: { rules: [{ methods: '*'; path: '/x' }] } }>().not.toExtend<Options>()
  })

  it('a ConfigError lists its problems', () => {
    expectTypeOf<ConfigError['problems']>().toEqualTypeOf<readonly string[]>()
    expectTypeOf<ConfigError>().toExtend<Error>()
  })
})
