import { bounded, type Depth, type Family, type Line, type Scrape } from './family.ts'

/** Two depths as one: messages add up, the oldest age counts. */
function together(a: Depth, b: Depth): Depth {
  return {
    ...a,
    messages: a.messages + b.messages,
    oldestAgeS: Math.max(a.oldestAgeS, b.oldestAgeS),
  }
}

/** Queue and group as one name that sorts by queue first; no name holds U+0000 by accident twice. */
function nameOf(depth: Depth): string {
  return depth.group === undefined ? depth.queue : `${depth.queue}\u0000${depth.group}`
}

function depths(
  scrape: Scrape,
  ofGroups: boolean,
  value: (depth: Depth) => number,
): readonly Line[] | undefined {
  const rows = scrape.store?.depths
    .filter((depth) => (depth.group !== undefined) === ofGroups)
    .map((depth) => [nameOf(depth), depth] as const)
  return (
    rows &&
    bounded(rows, scrape.maxQueues, together).map(([name, depth]): Line => {
      const [queue = '', group = name] = name.split('\u0000')
      return [ofGroups ? { queue, group } : { queue }, value(depth)]
    })
  )
}

/** How much waits, for how long, of each queue and of each group on it. */
export const DEPTH_FAMILIES: readonly Family[] = [
  {
    name: 'hivegate_queue_messages',
    type: 'gauge',
    help: 'Messages stored, consumed or not.',
    labels: ['queue'],
    read: ({ store, maxQueues }) =>
      store &&
      bounded(store.stored, maxQueues, (a, b) => a + b).map(
        ([queue, messages]): Line => [{ queue }, messages],
      ),
  },
  {
    name: 'hivegate_queue_depth',
    type: 'gauge',
    help: 'Messages that the furthest-behind consumer has not consumed.',
    labels: ['queue'],
    read: (scrape) => depths(scrape, false, (depth) => depth.messages),
  },
  {
    name: 'hivegate_queue_oldest_age_seconds',
    type: 'gauge',
    help: 'Age of the oldest message that the furthest-behind consumer has not consumed.',
    labels: ['queue'],
    read: (scrape) => depths(scrape, false, (depth) => depth.oldestAgeS),
  },
  {
    name: 'hivegate_group_depth',
    type: 'gauge',
    help: 'Messages that a group has not consumed.',
    labels: ['queue', 'group'],
    read: (scrape) => depths(scrape, true, (depth) => depth.messages),
  },
  {
    name: 'hivegate_group_oldest_age_seconds',
    type: 'gauge',
    help: 'Age of the oldest message that a group has not consumed.',
    labels: ['queue', 'group'],
    read: (scrape) => depths(scrape, true, (depth) => depth.oldestAgeS),
  },
  {
    name: 'hivegate_parked_pops',
    type: 'gauge',
    help: 'Pops that wait now, over all queues.',
    labels: [],
    read: ({ parked }) => [[{}, [...parked.values()].reduce((sum, pops) => sum + pops, 0)]],
  },
]
