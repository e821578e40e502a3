import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldText, formFields, isFormType } from '../../src/hub/form.ts'

function parse(text: string | Buffer): [string, string][] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return [...formFields(bytes)].map((field) => [field.name, fieldText(field)])
}

describe('a urlencoded form is read by the WHATWG rules', () => {
  it.each([
    [
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['a=1;b=2', [['a', '1;b=2']]],
    ['a+b=c+d', [['a b', 'c d']]],
    ['a', [['a', '']]],
    ['=x', [['', 'x']]],
    ['a=b=c', [['a', 'b=c']]],
    ['&&a=1&&', [['a', '1']]],
    ['a=%', [['a', '%']]],
    ['a=%4', [['a', '%4']]],
    ['a=%zz%41', [['a', '%zzA']]],
    ['a=%2B%26%3D', [['a', '+&=']]],
    ['a=%E2%82%AC', [['a', '€']]],
    ['topic[]=x', [['topic[]', 'x']]],
    [
      '__proto__=x&constructor=y',
      [
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ],
    ],
  ])('%s', (text, fields) => {
    expect(parse(text)).toEqual(fields)
  })

  it('gives what URLSearchParams gives for every text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        // URLSearchParams takes a leading ? for the start of a query.
        expect(parse(text)).toEqual([...new URLSearchParams(`&${text}`)].map(([n, v]) => [n, v]))
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string({ unit: 'binary' }))), (pairs) => {
        const wellFormed = pairs.map(([n, v]): [string, string] => [
          n.toWellFormed(),
          v.toWellFormed(),
        ])
        const text = new URLSearchParams(wellFormed).toString()
        expect(parse(text)).toEqual(wellFormed)
      }),
    )
  })

  it.each([
    ['a lone continuation byte', Buffer.from('a=%80')],
    ['an overlong form', Buffer.from('a=%C0%AF')],
    ['a surrogate', Buffer.from('a=%ED%A0%80')],
    ['a raw byte that is no UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
    ['a sequence that ends early', Buffer.from('a=%E2%82')],
  ])('refuses %s instead of replacing it', (_name, bytes) => {
    expect(() => parse(bytes)).toThrow('a: not UTF-8')
  })

  it('keeps a byte order mark, which is a character like others', () => {
    expect(parse('a=%EF%BB%BFx')).toEqual([['a', '\ufeffx']])
  })

  it.each([
    ['application/x-www-form-urlencoded', true],
    ['application/x-www-form-urlencoded; charset=UTF-8', true],
    ['Application/X-WWW-Form-URLEncoded;charset="utf-8"', true],
    ['application/json', false],
    ['multipart/form-data; boundary=x', false],
    ['application/x-www-form-urlencoded-x', false],
    ['application/x-www-form-urlencoded; =', false],
    ['', false],
  ])('content type %s names a form: %s', (type, is) => {
    expect(isFormType(type)).toBe(is)
  })

  it('a missing content type names no form', () => {
    expect(isFormType(undefined)).toBe(false)
  })
})
