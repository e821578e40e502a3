import { describe, expect, it } from 'vitest'
import { challengeOf, HubAuthError, HubRequestError } from '../../src/hub/index.ts'

const METADATA = 'https://hub.shop.example/.well-known/oauth-protected-resource/.well-known/mercure'

describe('error responses (section 9): status, code and challenge of each class', () => {
  it.each([
    ['token_missing', 401, undefined, `Bearer resource_metadata="${METADATA}"`],
    [
      'token_invalid',
      401,
      'invalid_token',
      `Bearer error="invalid_token", resource_metadata="${METADATA}"`,
    ],
    [
      'not_granted',
      403,
      'insufficient_scope',
      `Bearer error="insufficient_scope", resource_metadata="${METADATA}"`,
    ],
    [
      'token_badly_presented',
      400,
      'invalid_request',
      `Bearer error="invalid_request", resource_metadata="${METADATA}"`,
    ],
  ] as const)('%s: %i', (code, status, error, challenge) => {
    const refusal = new HubAuthError(code, 'for the log')
    expect(refusal).toMatchObject({ code, status, error, reason: 'for the log' })
    expect(challengeOf(refusal, METADATA)).toBe(challenge)
    expect(challengeOf(refusal, METADATA)).not.toMatch(/error_description|realm|for the log/)
  })

  it('the metadata URL is left out when none can be built', () => {
    expect(challengeOf(new HubAuthError('token_missing', ''))).toBe('Bearer')
    expect(challengeOf(new HubAuthError('not_granted', ''))).toBe(
      'Bearer error="insufficient_scope"',
    )
  })

  it('a malformed request carries no OAuth code', () => {
    expect(new HubRequestError('topic_missing', 'topic: missing')).toMatchObject({ status: 400 })
    expect(new HubRequestError('topic_count', 'topic: too many', 413)).toMatchObject({
      status: 413,
    })
  })
})
