import { api, query } from '../api.js'
import { field, formatCount, formatTime, h, json, table } from '../dom.js'

const PAGE = 50
const STATUSES = [
  ['', 'any'],
  ['pending', 'pending'],
  ['processing', 'processing'],
  ['completed', 'completed'],
  ['dead_letter', 'dead letter'],
]
const WEEK_MS = 7 * 24 * 3_600_000
const path = encodeURIComponent

function filterForm(filter) {
  const submit = (event) => {
    event.preventDefault()
    location.hash = `#/messages${query(Object.fromEntries(new FormData(event.target)))}`
  }
  return h(
    'form',
    { class: 'filter', onsubmit: submit },
    field('Queue', 'queue', filter.queue),
    field('Partition', 'partition', filter.partition),
    field('Status', 'status', filter.status ?? '', STATUSES),
    h('button', { type: 'submit' }, 'Show'),
  )
}

function pager(filter, shown) {
  const offset = Number(filter.offset ?? 0)
  const link = (to, label) =>
    h('a', { href: `#/messages${query({ ...filter, offset: to })}` }, label)
  return h(
    'p',
    null,
    offset > 0 ? link(Math.max(0, offset - PAGE), 'Newer') : null,
    ' ',
    shown === PAGE ? link(offset + PAGE, 'Older') : null,
  )
}

/** Stored messages, newest first. */
export function messagesView(_rest, search) {
  const filter = Object.fromEntries(search)
  const list = h('div')
  const element = h('div', null, filterForm(filter), list)
  const refresh = async () => {
    const from = new Date(Date.now() - WEEK_MS).toISOString()
    const { messages, total } = await api.messages({ from, limit: PAGE, ...filter })
    list.replaceChildren(
      table({
        caption: `${formatCount(total)} messages of the last seven days, newest first`,
        empty: 'No message matches.',
        rows: messages,
        columns: [
          {
            label: 'Transaction id',
            id: true,
            cell: (row) =>
              h(
                'a',
                { href: `#/messages/${path(row.partitionId)}/${path(row.transactionId)}` },
                row.transactionId,
              ),
          },
          { label: 'Queue', cell: ({ queue }) => queue },
          { label: 'Partition', cell: ({ partition }) => partition },
          { label: 'Status', cell: ({ status }) => h('span', { class: 'pill' }, status) },
          { label: 'Producer', cell: ({ producerSub }) => producerSub ?? '–' },
          { label: 'Created', cell: ({ createdAt }) => formatTime(createdAt) },
        ],
      }),
      pager(filter, messages.length),
    )
  }
  return { element, refresh }
}

function timeline(traces) {
  if (traces.length === 0)
    return h('p', { class: 'none' }, 'No trace was written for this message.')
  return h(
    'ol',
    { class: 'timeline' },
    traces.map((trace) =>
      h(
        'li',
        null,
        h('strong', null, trace.event_type),
        ` · ${formatTime(trace.created_at)} · ${trace.consumer_group}`,
        trace.trace_names.length > 0 ? ` · ${trace.trace_names.join(', ')}` : null,
        json(trace.data),
      ),
    ),
  )
}

/** One message: payload, where each group stands, and its traces. */
export async function messageView([partition, id]) {
  const [message, { traces }] = await Promise.all([
    api.message(partition, id),
    api.traces(partition, id),
  ])
  const facts = [
    ['Message id', message.id],
    ['Queue', message.queue],
    ['Partition', message.partition],
    ['Status', message.status],
    ['Created', formatTime(message.createdAt)],
    ['Producer', message.producerSub ?? '–'],
    ['Trace id', message.traceId ?? '–'],
    ['Last error', message.errorMessage ?? '–'],
  ]
  const element = h(
    'div',
    null,
    table({
      caption: 'What is known of it',
      empty: '',
      rows: facts,
      columns: [
        { label: 'Fact', cell: ([name]) => name },
        { label: 'Value', id: true, cell: ([, value]) => String(value) },
      ],
    }),
    h('h2', null, 'Payload'),
    json(message.payload),
    h('h2', null, 'Consumer groups'),
    table({
      caption: 'Where each group stands',
      empty: 'No group has read this queue.',
      rows: message.consumerGroups,
      columns: [
        { label: 'Group', cell: ({ name }) => name },
        { label: 'Consumed', cell: ({ consumed }) => (consumed ? 'yes' : 'no') },
        { label: 'Leased until', cell: ({ leaseExpiresAt }) => formatTime(leaseExpiresAt) },
      ],
    }),
    h('h2', null, 'Traces'),
    timeline(traces),
  )
  return { title: id, element }
}
