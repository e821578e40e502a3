import type { Request, RequestHandler, Router } from 'express'
import { describe, expectTypeOf, it } from 'vitest'
import {
  attachSubscriberCookie,
  createSubscriberTokenIssuer,
  type SubscriberTokenIssuer,
  subscriberCookie,
  subscriberTokenEndpoint,
} from '../../src/issuer/index.ts'
import {
  createPubsubVerifier,
  type PrefixClaims,
  type PubsubVerifier,
  requirePath,
  type TokenErrorCode,
} from '../../src/pubsub.ts'

describe('types of hivegate/pubsub', () => {
  it('a verifier has one source of keys', () => {
    expectTypeOf(createPubsubVerifier).returns.toEqualTypeOf<PubsubVerifier>()
    expectTypeOf(createPubsubVerifier).toBeCallableWith({ keys: { baseUrl: 'https://b/keys' } })
    expectTypeOf(createPubsubVerifier).toBeCallableWith({ keys: { jwk: { kty: 'EC' } } })
    // @ts-expect-error keys are needed
    expectTypeOf(createPubsubVerifier).toBeCallableWith({})
  })

  it('verify answers claims with lists, allows takes put or get', () => {
    expectTypeOf<PubsubVerifier['verify']>().returns.resolves.toEqualTypeOf<PrefixClaims>()
    expectTypeOf<PrefixClaims['put']>().toEqualTypeOf<readonly string[]>()
    expectTypeOf<PubsubVerifier['allows']>().parameter(1).toEqualTypeOf<'put' | 'get'>()
    expectTypeOf<'token_expired'>().toExtend<TokenErrorCode>()
  })

  it('requirePath is a middleware, and the claims are at req.pubsub', () => {
    expectTypeOf(requirePath).returns.toEqualTypeOf<RequestHandler>()
    expectTypeOf<Request['pubsub']>().toEqualTypeOf<PrefixClaims | undefined>()
  })
})

describe('types of hivegate/issuer', () => {
  it('one issuer serves both channels', () => {
    expectTypeOf(createSubscriberTokenIssuer).returns.toEqualTypeOf<SubscriberTokenIssuer>()
    expectTypeOf<SubscriberTokenIssuer['mint']>().returns.resolves.toBeString()
    expectTypeOf(subscriberTokenEndpoint).returns.toEqualTypeOf<Router>()
    expectTypeOf(attachSubscriberCookie).returns.resolves.toBeVoid()
    expectTypeOf(subscriberCookie).returns.toEqualTypeOf<RequestHandler>()
  })

  it('canView may be asynchronous, topic and subject may not', () => {
    type Options = Parameters<typeof subscriberTokenEndpoint>[0]
    expectTypeOf<Options['canView']>().returns.toEqualTypeOf<boolean | Promise<boolean>>()
    expectTypeOf<Options['topic']>().returns.toBeString()
    expectTypeOf<Options['subject']>().returns.toBeString()
  })

  it('an unknown algorithm does not compile', () => {
    const names = { issuer: 'i', audience: 'a', key: 'k' }
    expectTypeOf(createSubscriberTokenIssuer).toBeCallableWith({ ...names, alg: 'HS256' })
    // @ts-expect-error none is no algorithm
    expectTypeOf(createSubscriberTokenIssuer).toBeCallableWith({ ...names, alg: 'none' })
  })
})
