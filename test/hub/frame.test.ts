import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventFrame } from '../../src/hub/frame.ts'
import type { Update } from '../../src/hub/store.ts'

const update = (fields: Partial<Update>): Update => ({
  id: 'urn:x:1',
  topics: ['https://shop.example/a'],
  data: '',
  private: false,
  ...fields,
})

function read(bytes: Buffer): EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  parser.feed(bytes.toString())
  return events
}

describe('the bytes of one event', () => {
  it('come in the order event, retry, id, data, empty line', () => {
    const frame = eventFrame(
      update({ type: 'stock', retry: '2500', data: '{"sku": 4,\r\n "left": 12}' }),
    )
    expect(frame.toString()).toBe(
      'event: stock\nretry: 2500\nid: urn:x:1\ndata: {"sku": 4,\ndata:  "left": 12}\n\n',
    )
  })

  it('split data on CR LF, CR and LF only', () => {
    const frame = eventFrame(update({ data: 'a\r\nb\rc\nd\u2028e\u2029f\u000bg\u000ch\u0085i' }))
    expect(frame.toString()).toBe(
      'id: urn:x:1\ndata: a\ndata: b\ndata: c\ndata: d\u2028e\u2029f\u000bg\u000ch\u0085i\n\n',
    )
  })

  it('have one empty data line when there is no data', () => {
    expect(eventFrame(update({})).toString()).toBe('id: urn:x:1\ndata: \n\n')
  })

  it('give each empty piece of the data a line, and keep leading spaces', () => {
    const frame = eventFrame(update({ data: '\n  x\n' }))
    expect(frame.toString()).toBe('id: urn:x:1\ndata: \ndata:   x\ndata: \n\n')
  })

  it('H2: data that looks like fields of a stream arrives as data, in full', () => {
    const data = 'x\nid: forged\nevent: forged\r\rretry: 1\n\n: comment\n\ndata: y'
    const [event, ...more] = read(eventFrame(update({ data })))
    expect(more).toEqual([])
    expect(event).toMatchObject({ id: 'urn:x:1', data: data.replace(/\r\n?/g, '\n') })
    expect(event?.event).toBeUndefined()
  })

  it('row 70: opaque data, such as a JWE, comes out unchanged', () => {
    const jwe = `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..${'Zm9v'.repeat(400)}.x-_y`
    expect(read(eventFrame(update({ data: jwe })))[0]?.data).toBe(jwe)
  })

  it('are read back by an independent parser, whatever the data', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const data = text.toWellFormed()
        const events = read(eventFrame(update({ data })))
        expect(events).toHaveLength(1)
        expect(events[0]?.data).toBe(data.replace(/\r\n?/g, '\n'))
      }),
    )
  })
})
