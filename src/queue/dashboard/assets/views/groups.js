import { api } from '../api.js'
import { formatCount, formatSeconds, formatTime, h, table } from '../dom.js'

const LIVE_MS = 3000

function state(text) {
  return h('span', { class: `pill ${text === 'Stable' ? 'good' : 'bad'}` }, text)
}

/** Every group on every queue. */
export function groupsView() {
  const element = h('div')
  const refresh = async () => {
    const groups = await api.groups()
    element.replaceChildren(
      table({
        caption: 'One row a group and queue; __QUEUE_MODE__ is everyone who names no group',
        empty: 'No group yet. The first pop registers one.',
        rows: groups,
        columns: [
          { label: 'Group', cell: ({ name }) => name },
          {
            label: 'Queue',
            cell: ({ queueName }) =>
              h('a', { href: `#/queues/${encodeURIComponent(queueName)}` }, queueName),
          },
          { label: 'Partitions', numeric: true, cell: ({ members }) => formatCount(members) },
          {
            label: 'With lag',
            numeric: true,
            cell: ({ partitionsWithLag }) => formatCount(partitionsWithLag),
          },
          { label: 'Lag', numeric: true, cell: ({ totalLag }) => formatCount(totalLag ?? 0) },
          { label: 'Lag time', numeric: true, cell: ({ maxTimeLag }) => formatSeconds(maxTimeLag) },
          { label: 'State', cell: (group) => state(group.state) },
          {
            label: 'Starts at',
            cell: ({ subscriptionMode, subscriptionTimestamp }) =>
              subscriptionTimestamp
                ? formatTime(subscriptionTimestamp)
                : (subscriptionMode ?? 'all'),
          },
        ],
      }),
    )
  }
  return { element, refresh, everyMs: LIVE_MS }
}
