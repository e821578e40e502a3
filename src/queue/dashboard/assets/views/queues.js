import { api } from '../api.js'
import { formatCount, formatSeconds, formatTime, h, table, tiles } from '../dom.js'

const LIVE_MS = 3000
const path = encodeURIComponent

/** Largest lag of any group, by queue name. */
function lagByQueue(groups) {
  const lags = new Map()
  for (const { queueName, totalLag, maxTimeLag } of groups) {
    const known = lags.get(queueName) ?? { messages: 0, seconds: 0 }
    lags.set(queueName, {
      messages: Math.max(known.messages, totalLag ?? 0),
      seconds: Math.max(known.seconds, maxTimeLag ?? 0),
    })
  }
  return lags
}

/** Every queue with its depth and lag. */
export function queuesView() {
  const element = h('div')
  const refresh = async () => {
    const [queues, groups] = await Promise.all([api.queues(), api.groups()])
    const lags = lagByQueue(groups)
    element.replaceChildren(
      table({
        caption: `${queues.length} queues, newest first`,
        empty: 'No queue yet. The first push creates one.',
        rows: queues,
        columns: [
          {
            label: 'Queue',
            cell: ({ name }) => h('a', { href: `#/queues/${path(name)}` }, name || '(empty name)'),
          },
          { label: 'Namespace', cell: ({ namespace }) => namespace || '–' },
          { label: 'Task', cell: ({ task }) => task || '–' },
          { label: 'Partitions', numeric: true, cell: ({ partitions }) => formatCount(partitions) },
          { label: 'Stored', numeric: true, cell: ({ messages }) => formatCount(messages.total) },
          { label: 'Depth', numeric: true, cell: ({ messages }) => formatCount(messages.pending) },
          {
            label: 'Processing',
            numeric: true,
            cell: ({ messages }) => formatCount(messages.processing),
          },
          {
            label: 'Largest lag',
            numeric: true,
            cell: ({ name }) => formatCount(lags.get(name)?.messages ?? 0),
          },
          {
            label: 'Lag time',
            numeric: true,
            cell: ({ name }) => formatSeconds(lags.get(name)?.seconds ?? 0),
          },
          { label: 'Created', cell: ({ createdAt }) => formatTime(createdAt) },
        ],
      }),
    )
  }
  return { element, refresh, everyMs: LIVE_MS }
}

function partitions(rows) {
  return table({
    caption: `${rows.length} partitions`,
    empty: 'No partition yet.',
    rows,
    columns: [
      { label: 'Partition', cell: ({ name }) => name },
      { label: 'Stored', numeric: true, cell: ({ messages }) => formatCount(messages.total) },
      { label: 'Pending', numeric: true, cell: ({ messages }) => formatCount(messages.pending) },
      {
        label: 'Processing',
        numeric: true,
        cell: ({ messages }) => formatCount(messages.processing),
      },
      {
        label: 'Completed',
        numeric: true,
        cell: ({ messages }) => formatCount(messages.completed),
      },
      {
        label: 'Dead letters',
        numeric: true,
        cell: ({ messages }) => formatCount(messages.deadLetter),
      },
      { label: 'Oldest', cell: ({ oldestMessage }) => formatTime(oldestMessage) },
      { label: 'Newest', cell: ({ newestMessage }) => formatTime(newestMessage) },
    ],
  })
}

/** One queue: figures, options, groups and partitions. */
export function queueView([name]) {
  const element = h('div')
  const refresh = async () => {
    const [detail, groups] = await Promise.all([api.queue(name), api.groups()])
    const { messages } = detail.totals
    const options = Object.entries(detail.queue.config)
    element.replaceChildren(
      tiles([
        ['Stored', formatCount(messages.total)],
        ['Pending', formatCount(messages.pending)],
        ['Processing', formatCount(messages.processing)],
        ['Completed', formatCount(messages.completed)],
        ['Dead letters', formatCount(messages.deadLetter)],
      ]),
      h(
        'p',
        null,
        h('a', { href: `#/messages?queue=${path(name)}` }, 'Browse messages'),
        ' · ',
        h('a', { href: `#/dlq?queue=${path(name)}` }, 'Dead letters'),
      ),
      h('h2', null, 'Options'),
      table({
        caption: `priority ${detail.queue.priority}, created ${formatTime(detail.queue.createdAt)}`,
        empty: '',
        rows: options,
        columns: [
          { label: 'Option', cell: ([option]) => option },
          { label: 'Value', cell: ([, value]) => String(value) },
        ],
      }),
      h('h2', null, 'Consumer groups'),
      table({
        caption: 'Groups that read this queue',
        empty: 'Nobody has read this queue yet.',
        rows: groups.filter(({ queueName }) => queueName === name),
        columns: [
          { label: 'Group', cell: (group) => group.name },
          { label: 'Lag', numeric: true, cell: ({ totalLag }) => formatCount(totalLag ?? 0) },
          { label: 'Lag time', numeric: true, cell: ({ maxTimeLag }) => formatSeconds(maxTimeLag) },
          { label: 'State', cell: ({ state }) => state },
        ],
      }),
      h('h2', null, 'Partitions'),
      partitions(detail.partitions),
    )
  }
  return { title: name || '(empty name)', element, refresh, everyMs: LIVE_MS }
}
