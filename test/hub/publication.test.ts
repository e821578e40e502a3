import { describe, expect, it } from 'vitest'
import { HubRequestError } from '../../src/hub/errors.ts'
import { readPublication } from '../../src/hub/publication.ts'

const read = (text: string) => readPublication(Buffer.from(text))
const refusal = (text: string): HubRequestError => {
  try {
    read(text)
  } catch (error) {
    if (error instanceof HubRequestError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

describe('row 39: the fields of a publish request', () => {
  it('are topics in order, then data, id, type, retry', () => {
    expect(read('topic=b&topic=a&data=x+y&id=i&type=t&retry=5&private')).toEqual({
      topics: ['b', 'a'],
      data: 'x y',
      id: 'i',
      type: 't',
      retry: '5',
      private: true,
    })
  })

  it('are ignored when unknown, and of a repeated one the first counts', () => {
    const text = 'topic=a&data=1&data=2&id=x&id=y&type=t&type=u&retry=1&retry=z&token=q&Topic=n'
    expect(read(text)).toEqual({
      topics: ['a'],
      data: '1',
      id: 'x',
      type: 't',
      retry: '1',
      private: false,
    })
  })

  it('are absent when empty, apart from data, which is then empty', () => {
    expect(read('topic=a&id=&type=&retry=')).toEqual({ topics: ['a'], data: '', private: false })
  })

  it.each(['private', 'private=', 'private=off', 'private=0', 'private=false', 'private=%FF'])(
    'row 40: %s makes the update private by its presence',
    (field) => {
      expect(read(`topic=a&${field}`).private).toBe(true)
    },
  )

  it.each([
    ['0', undefined],
    ['000', undefined],
    ['007', '7'],
    ['18446744073709551615', '18446744073709551615'],
    ['000018446744073709551615', '18446744073709551615'],
    ['9007199254740993', '9007199254740993'],
  ])('retry %s is written as %s', (text, digits) => {
    expect(read(`topic=a&retry=${text}`).retry).toBe(digits)
  })

  it.each(['-1', '%2B5', '1.5', '1e3', '+5', '5+', '0x10', '٣', '18446744073709551616', 'NaN'])(
    'retry %s is refused',
    (text) => {
      expect(refusal(`topic=a&retry=${text}`)).toMatchObject({
        status: 400,
        code: 'retry_malformed',
      })
    },
  )

  it.each([
    ['', 'topic_missing'],
    ['data=x', 'topic_missing'],
    ['topic=a&topic=*', 'topic_wildcard'],
    ['topic=*', 'topic_wildcard'],
    ['topic=', 'topic_reserved'],
    ['topic=a&id=earliest', 'id_reserved'],
    ['topic=a&id=%23x', 'id_reserved'],
    ['topic=a&type=mercure', 'type_reserved'],
    ['topic=a&data=%FF', 'not_utf8'],
    ['topic=a&id=%FF', 'not_utf8'],
    ['topic=%C0', 'not_utf8'],
  ])('%s is refused with %s', (text, code) => {
    expect(refusal(text)).toMatchObject({ status: 400, code })
  })

  it('row 45: 1000 topics are taken, one more is 413, before any of them is looked at', () => {
    const topics = (count: number, topic = 'a') => new Array(count).fill(`topic=${topic}`).join('&')
    expect(read(topics(1000)).topics).toHaveLength(1000)
    expect(refusal(topics(1001))).toMatchObject({ status: 413, code: 'too_many_topics' })
    expect(refusal(topics(1001, '%FF'))).toMatchObject({ status: 413, code: 'too_many_topics' })
  })

  it('H1: id and type with a control or format character are refused', () => {
    const bad = ['%0D', '%0A', '%00', '%7F', '%1F', '%C2%85', '%E2%80%8B', '%FF']
    for (const field of ['id', 'type']) {
      for (const character of bad) {
        expect(refusal(`topic=a&${field}=x${character}y`).status).toBe(400)
      }
    }
  })

  it('H2: data may hold line ends, NUL and format characters', () => {
    expect(read('topic=a&data=%0D%0A%00%E2%80%8B').data).toBe('\r\n\0\u200b')
  })
})
