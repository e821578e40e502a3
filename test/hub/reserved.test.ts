import { describe, expect, it } from 'vitest'
import {
  assertPublishableId,
  assertPublishableTopic,
  assertPublishableType,
  HubRequestError,
  isReservedTopic,
} from '../../src/hub/index.ts'

const RESERVED = [
  '',
  'mercure',
  'mercure/subscriptions/x',
  '?a=b',
  '#f',
  '/.well-known/mercure',
  '/.well-known/mercure/',
  'https://any.example/.well-known/mercure/s/x',
  '//any.example/.well-known/mercure/x',
  '/.well-known/%6Dercure/x',
  '/%2Ewell-known/mercure',
  '/.well-known/x/../mercure/y',
  '/.well-known/mercure/../mercure/z',
  'https://any.example\\.well-known\\mercure\\x',
  'foo://h/.well-known/mercure/x',
  'file:///.well-known/mercure',
  '  /.well-known/mercure',
  '/.well-known/mercure  ',
  '/%2e%77%65%6c%6c%2d%6b%6e%6f%77%6e/%6d%65%72%63%75%72%65',
  '/.well%2Dknown/mercure?x#y',
  '/.well-known/%2e/mercure',
]

const FREE = [
  'bar',
  'subscriptions/foo',
  '../mercure/x',
  '.',
  '/.well-known/mercure-dashboard',
  '/.well-known/mercureX',
  'https://any.example/foo/.well-known/mercure/x',
  '/.well-known/MERCURE/x',
  '/.well-known/%256Dercure/x',
  '/.well-known/mercure%2Fx',
  '/.well-known//mercure',
  '/.well-known/mercure/../x',
  'http://[bad',
  'urn:example:mercure',
  'data:,/.well-known/mercure',
  'a topic with spaces',
]

describe('reserved namespace (section 4.3, H6)', () => {
  it.each(RESERVED)('%j is reserved', (topic) => {
    expect(isReservedTopic(topic)).toBe(true)
    expect(() => assertPublishableTopic(topic)).toThrow(HubRequestError)
  })

  it.each(FREE)('%j is free', (topic) => {
    expect(isReservedTopic(topic)).toBe(false)
    expect(() => assertPublishableTopic(topic)).not.toThrow()
  })
})

describe('what no token can publish (sections 4.1, 4.2, 4.4, H1, H3, H7)', () => {
  const FORBIDDEN = ['a\0b', 'a\rb', 'a\nb', 'a\u007f', 'a\u0085', 'a\u200b', '\u202ea', 'a\ud800']

  it.each([
    ['topic', assertPublishableTopic],
    ['id', assertPublishableId],
    ['type', assertPublishableType],
  ])('%s with a forbidden character is 400 and names the field, not the value', (name, check) => {
    for (const value of FORBIDDEN) {
      try {
        check(value)
        expect.unreachable()
      } catch (error) {
        expect(error).toMatchObject({ status: 400, code: `${name}_forbidden_character` })
        expect(String(error)).not.toContain(value)
      }
    }
  })

  it.each([
    ['topic *', assertPublishableTopic, '*', 'topic_wildcard'],
    ['id earliest', assertPublishableId, 'earliest', 'id_reserved'],
    ['id #1', assertPublishableId, '#1', 'id_reserved'],
    ['id #', assertPublishableId, '#', 'id_reserved'],
    ['type mercure', assertPublishableType, 'mercure', 'type_reserved'],
  ])('%s is 400', (_, check, value, code) => {
    expect(() => check(value)).toThrow(expect.objectContaining({ status: 400, code }))
  })

  it.each([
    [assertPublishableId, 'Earliest'],
    [assertPublishableId, 'a#1'],
    [assertPublishableId, 'urn:uuid:1'],
    [assertPublishableType, 'Mercure'],
    [assertPublishableType, 'message'],
    [assertPublishableTopic, '**'],
    [assertPublishableTopic, 'https://shop.example/*'],
  ])('%o takes %s', (check, value) => {
    expect(() => check(value)).not.toThrow()
  })
})
