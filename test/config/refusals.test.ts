import { describe, expect, it } from 'vitest'
import { problemsOf as listOf } from './problems.ts'

const problemsOf = (env: Record<string, string>) => listOf(env).join('\n')

const URL_VARIABLES = [
  'JWT_JWKS_URL',
  'PUBSUB_SESSION_JWKS_URL',
  'MERCURE_PUBLISHER_JWKS_URI',
  'MERCURE_SUBSCRIBER_JWKS_URI',
  'MERCURE_RESOURCE_IDENTIFIER',
  'MERCURE_PUBLIC_URLS',
  'DATABASE_URL',
]

describe('a wrong URL in the environment', () => {
  it.each(URL_VARIABLES)('%s is named without its user and password', (name) => {
    for (const url of [
      'https://us3r:s3cret@host:port/keys#f',
      'https:/us3r:s3cret@host:port/#f',
      'http//us3r:s3cret@',
      'us3r:s3cret@host',
      'us3r:s3/cr@et s3cret@host',
      'ftp:\\\\us3r:s3cret@host:port',
      'https://us3r:\ns3cret@host:port/#f',
    ]) {
      const problems = problemsOf({ [name]: url })
      expect(problems).toContain(`${name}: `)
      expect(problems).not.toMatch(/us3r|s3cret|s3/)
    }
  })

  it('keeps scheme, host and path, which tell what is wrong', () => {
    expect(problemsOf({ JWT_JWKS_URL: 'https://u:p@idp:port/keys' })).toBe(
      'JWT_JWKS_URL: got "https://***@idp:port/keys", expected an absolute http:// or https:// URL',
    )
    expect(problemsOf({ JWT_JWKS_URL: 'idp/keys' })).toContain('got "idp/keys"')
  })
})

describe('a setting that would silently do something else', () => {
  it('DEFAULT_SUBSCRIPTION_MODE takes the words of the queue and refuses a typo', () => {
    expect(problemsOf({ DEFAULT_SUBSCRIPTION_MODE: 'nwe' })).toMatch(
      /^DEFAULT_SUBSCRIPTION_MODE: got "nwe", expected one of all, /,
    )
    for (const word of ['', 'all', 'from_beginning', 'NEW', 'new-only', 'new_only', 'newonly']) {
      expect(problemsOf({ DEFAULT_SUBSCRIPTION_MODE: word })).toBe('')
    }
  })

  it('no list of words begins with nothing', () => {
    expect(problemsOf({ MERCURE_PUBLISHER_JWT_ALG: 'HS1' })).toContain('one of HS256, ')
  })
})
