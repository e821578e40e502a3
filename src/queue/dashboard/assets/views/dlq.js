import { api, query } from '../api.js'
import { field, formatCount, formatTime, h, json, table } from '../dom.js'

const PAGE = 50

function filterForm(filter) {
  const submit = (event) => {
    event.preventDefault()
    location.hash = `#/dlq${query(Object.fromEntries(new FormData(event.target)))}`
  }
  return h(
    'form',
    { class: 'filter', onsubmit: submit },
    field('Queue', 'queue', filter.queue),
    field('Consumer group', 'consumerGroup', filter.consumerGroup),
    h('button', { type: 'submit' }, 'Show'),
  )
}

/** Messages that a group gave up on, with replay. */
export function dlqView(_rest, search) {
  const filter = Object.fromEntries(search)
  const said = h('p', { role: 'status' })
  const list = h('div')
  const element = h('div', null, filterForm(filter), said, list)
  const replay = async (event, row) => {
    event.target.disabled = true
    try {
      const { result, queue } = await api.replay(row.id)
      said.textContent = `Replayed to ${queue}: ${result}`
    } catch (fault) {
      said.textContent = `Not replayed: ${fault.message}`
    }
    await refresh()
  }
  const columns = [
    { label: 'Failed', cell: ({ failedAt }) => formatTime(failedAt) },
    { label: 'Queue', cell: ({ queue }) => queue },
    { label: 'Partition', cell: ({ partition }) => partition },
    { label: 'Group', cell: ({ consumerGroup }) => consumerGroup },
    { label: 'Error', cell: ({ errorMessage }) => errorMessage ?? '–' },
    { label: 'Retries', numeric: true, cell: ({ retryCount }) => formatCount(retryCount) },
    {
      label: 'Payload',
      cell: (row) => h('details', null, h('summary', null, row.transactionId), json(row.data)),
    },
    {
      label: 'Action',
      cell: (row) =>
        h('button', { type: 'button', onclick: (event) => replay(event, row) }, 'Replay'),
    },
  ]
  const refresh = async () => {
    const { messages, total } = await api.dlq({ limit: PAGE, ...filter })
    list.replaceChildren(
      table({
        caption: `${formatCount(total)} dead letters, newest first`,
        empty: 'No dead letter. Nothing was given up on.',
        rows: messages,
        columns,
      }),
    )
  }
  return { element, refresh }
}
