import { api } from '../api.js'
import { linePlot } from '../charts.js'
import { formatCount, formatRate, formatSeconds, h, tiles } from '../dom.js'

const LIVE_MS = 2000
const LIVE_SAMPLES = 150

/** Samples of this page's own polling; kept between visits of the view, so that the plots do not start anew. */
const live = []

function remember(overview) {
  live.push({
    time: Date.parse(overview.timestamp) / 1000,
    ingested: overview.throughput.ingestedPerSecond,
    processed: overview.throughput.processedPerSecond,
    lagAverage: overview.lag.time.avg,
    lagLongest: overview.lag.time.max,
  })
  if (live.length > LIVE_SAMPLES) live.shift()
}

const column = (rows, key) => rows.map((row) => row[key])

function figures(overview) {
  const { messages, throughput, lag } = overview
  return tiles([
    ['Queues', formatCount(overview.queues)],
    ['Partitions', formatCount(overview.partitions)],
    ['Stored', formatCount(messages.total)],
    ['Pending', formatCount(messages.pending)],
    ['Processing', formatCount(messages.processing)],
    ['Completed', formatCount(messages.completed)],
    ['Dead letters', formatCount(messages.deadLetter)],
    ['In per second', formatRate(throughput.ingestedPerSecond)],
    ['Out per second', formatRate(throughput.processedPerSecond)],
    ['Longest lag', formatSeconds(lag.time.max)],
  ])
}

/** Totals, live plots and the last hour. */
export function overviewView() {
  const top = h('div')
  const plots = {
    throughput: linePlot('Throughput, live', 'messages/s', ['in', 'out']),
    lag: linePlot('Lag, live', 's', ['average', 'longest']),
    hour: linePlot('Throughput, last hour', 'messages/s', ['in', 'out']),
    latency: linePlot('Delivery latency, last hour', 'ms', ['average', 'longest']),
  }
  const element = h(
    'div',
    null,
    top,
    h(
      'div',
      { class: 'charts' },
      Object.values(plots).map((plot) => plot.element),
    ),
  )
  const refresh = async () => {
    const [overview, status] = await Promise.all([api.overview(), api.status()])
    remember(overview)
    top.replaceChildren(figures(overview))
    const times = column(live, 'time')
    plots.throughput.draw([times, column(live, 'ingested'), column(live, 'processed')])
    plots.lag.draw([times, column(live, 'lagAverage'), column(live, 'lagLongest')])
    const buckets = status.throughput.toReversed()
    const minutes = buckets.map(({ timestamp }) => Date.parse(timestamp) / 1000)
    plots.hour.draw([
      minutes,
      column(buckets, 'ingestedPerSecond'),
      column(buckets, 'processedPerSecond'),
    ])
    plots.latency.draw([minutes, column(buckets, 'avgLagMs'), column(buckets, 'maxLagMs')])
  }
  return { element, refresh, everyMs: LIVE_MS }
}
