import { describe, expect, it, onTestFinished } from 'vitest'
import type { HubStore, StoredUpdate, Update } from '../../src/hub/index.ts'

/** A store on data of its own; `reopen` closes it and opens another one on the same data. */
export interface TestHubStore {
  readonly store: HubStore
  reopen(): Promise<TestHubStore>
  close(): Promise<void>
}

/** A store that was opened, and what ends it with all that it stands on. */
interface Opened {
  readonly store: HubStore
  end(): Promise<void>
}

/** A store for tests on the data that `open` opens; `remove` takes the data away. */
export async function testHubStore(
  open: () => Promise<Opened>,
  remove: () => unknown = () => {},
): Promise<TestHubStore> {
  const { store, end } = await open()
  return {
    store,
    async reopen() {
      await end()
      return testHubStore(open, remove)
    },
    async close() {
      await end()
      await remove()
    },
  }
}

/** An update that says nothing but its id. */
export const update = (id: string, fields: Partial<Update> = {}): Update => ({
  id,
  topics: ['a'],
  data: '',
  private: false,
  ...fields,
})

/** The whole history, page by page, as a reader would take it. */
export async function readAll(store: HubStore, from = 0): Promise<readonly StoredUpdate[]> {
  const updates: StoredUpdate[] = []
  for (let position = from; ; ) {
    const page = await store.readAfter(position)
    updates.push(...page.updates)
    if (page.atHead) return updates
    position = page.updates.at(-1)?.seq ?? position
  }
}

/** What every store of the hub's history has to do, whatever it is made of. */
export function hubStoreContract(
  name: string,
  openData: (historySize: number) => Promise<TestHubStore>,
): void {
  /** An open store, and what its listener has heard. */
  async function openStore(historySize = 0) {
    const opened = await openData(historySize)
    const { store } = opened
    const heard: StoredUpdate[] = []
    const head = await store.open((stored) => heard.push(stored))
    onTestFinished(() => opened.close())
    return { store, heard, head }
  }

  describe(name, () => {
    it('begins empty', async () => {
      const { store, head } = await openStore()
      expect(head.seq).toBe(0)
      expect(head.id).toBeUndefined()
      expect(await store.readAfter(0)).toEqual({ updates: [], complete: true, atHead: true })
      expect(await store.locate('x')).toBeUndefined()
      expect(await store.locate('earliest')).toBe(0)
    })

    it('gives back every field as it came', async () => {
      const { store, heard } = await openStore()
      const full = update('ïd', {
        topics: ['z', 'a', 'z', '"\\\u2028'],
        data: 'NUL \0 and \r\n and 😀',
        private: true,
        type: 't',
        retry: '18446744073709551615',
      })
      await store.append(full, false)
      await store.append(update('2'), false)
      const stored = [
        { ...full, seq: 1 },
        { ...update('2'), seq: 2 },
      ]
      expect(heard).toEqual(stored)
      expect(await readAll(store)).toEqual(stored)
    })

    it('tells the listener in the order of the store, before the publisher is answered', async () => {
      const { store, heard } = await openStore()
      await Promise.all(
        Array.from({ length: 500 }, async (_, at) => {
          await store.append(update(`${at}`), false)
          expect(heard.some(({ id }) => id === `${at}`)).toBe(true)
        }),
      )
      expect(heard.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, at) => at + 1))
      expect(await readAll(store)).toEqual(heard)
    })

    it('is read in pages that end early when their data is large', async () => {
      const { store } = await openStore()
      for (let at = 0; at < 5; at += 1) {
        await store.append(update(`${at}`, { data: 'x'.repeat(700_000) }), false)
      }
      const page = await store.readAfter(0)
      expect(page.updates).toHaveLength(2)
      expect(page.atHead).toBe(false)
      expect((await readAll(store)).map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4'])
    })

    it('finds the first of several updates with one id', async () => {
      const { store } = await openStore()
      for (const id of ['a', 'same', 'b', 'same']) await store.append(update(id), false)
      expect(await store.locate('same')).toBe(2)
    })

    it('H25: searches the newest ten thousand updates only', async () => {
      const { store } = await openStore()
      const many = Array.from({ length: 10_001 }, (_, at) => store.append(update(`${at}`), false))
      await Promise.all(many)
      expect(await store.locate('0')).toBeUndefined()
      expect(await store.locate('1')).toBe(2)
      expect(await store.locate('10000')).toBe(10_001)
    })

    it('keeps as many updates as it is told, and says so to a reader that was overtaken', async () => {
      const { store } = await openStore(3)
      for (let at = 1; at <= 5; at += 1) await store.append(update(`${at}`), at === 5)
      expect((await readAll(store)).map(({ id }) => id)).toEqual(['3', '4', '5'])
      expect((await store.readAfter(1)).complete).toBe(false)
      expect((await store.readAfter(2)).complete).toBe(true)
      expect(await store.locate('1')).toBeUndefined()
    })

    it('trims only when asked to, and never below its size', async () => {
      const { store } = await openStore(3)
      for (let at = 1; at <= 3; at += 1) await store.append(update(`${at}`), true)
      expect(await readAll(store)).toHaveLength(3)
      for (let at = 4; at <= 6; at += 1) await store.append(update(`${at}`), false)
      expect(await readAll(store)).toHaveLength(6)
    })

    it('row 49: is there after a restart, and goes on counting', async () => {
      let opened = await openData(0)
      onTestFinished(() => opened.close())
      for (const round of [1, 2]) {
        const { store } = opened
        const head = await store.open(() => {})
        expect(head.seq).toBe((round - 1) * 2)
        expect(head.id).toBe(round === 1 ? undefined : '1-b')
        await store.append(update(`${round}-a`), false)
        await store.append(update(`${round}-b`), false)
        opened = await opened.reopen()
      }
    })

    it('refuses what comes after it was closed', async () => {
      const { store } = await openStore()
      await store.close()
      await expect(store.append(update('x'), false)).rejects.toThrow()
    })
  })
}
