import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { problemsOf } from './problems.ts'

describe('TRUST_PROXY', () => {
  it.each([
    ['', false],
    ['0', false],
    ['false', false],
    ['1', 1],
    ['2', 2],
    ['loopback', ['loopback']],
    ['10.0.0.0/8, 192.168.1.7', ['10.0.0.0/8', '192.168.1.7']],
    ['::1,fd00::/8', ['::1', 'fd00::/8']],
  ])('%s is read as %j', (text, value) => {
    expect(loadConfig({ TRUST_PROXY: text }).server.trustProxy).toEqual(value)
  })

  it.each([
    'true',
    'TRUE',
    'yes',
    '-1',
    '1.5',
    '100',
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '*',
    ',',
  ])('%s is refused, naming the variable', (text) => {
    expect(problemsOf({ TRUST_PROXY: text })).toEqual([expect.stringMatching(/^TRUST_PROXY: got /)])
  })
})

describe('the files of the TLS listener', () => {
  it('come together or not at all', () => {
    expect(problemsOf({ TLS_CERT_FILE: '/x' })).toEqual([
      'TLS_KEY_FILE: has to be set together with TLS_CERT_FILE',
    ])
    expect(problemsOf({ TLS_KEY_FILE: '/x' })).toEqual([
      'TLS_CERT_FILE: has to be set together with TLS_KEY_FILE',
    ])
    expect(problemsOf({ TLS_CERT_FILE: '/x', TLS_KEY_FILE: '/y' })).toEqual([])
  })
})
