import { readEvents } from './events.js'

const HUB = '/.well-known/mercure'
const byId = (id) => document.getElementById(id)
const linesOf = (id) =>
  byId(id)
    .value.split('\n')
    .filter((line) => line !== '')

let stream

function authorization() {
  const token = byId('token').value.trim()
  return token === '' ? {} : { Authorization: `Bearer ${token}` }
}

function item(heading, text) {
  const entry = document.createElement('li')
  const title = document.createElement('strong')
  const content = document.createElement('pre')
  title.textContent = heading
  content.textContent = text
  entry.append(title, content)
  return entry
}

function subscribeUrl() {
  const parameters = new URLSearchParams()
  for (const topic of linesOf('exact')) parameters.append('match', topic)
  for (const pattern of linesOf('patterns')) parameters.append('match_urlpattern', pattern)
  if (byId('cursor').value !== '') parameters.append('last_event_id', byId('cursor').value)
  return `${HUB}?${parameters}`
}

async function follow(signal) {
  const state = byId('stream-state')
  const response = await fetch(subscribeUrl(), { headers: authorization(), signal })
  if (!response.ok) {
    state.textContent = `refused: ${response.status} ${await response.text()}`
    return
  }
  const cursor = response.headers.get('mercure-last-event-id')
  state.textContent = cursor === null ? 'connected' : `connected, after ${cursor}`
  for await (const event of readEvents(response)) {
    byId('events').prepend(item(`${event.type} ${event.id}`, event.data))
    if (event.type === 'mercure') void showSubscriptions()
  }
  state.textContent = 'ended by the hub'
}

async function start(submit) {
  submit.preventDefault()
  stream?.abort()
  const controller = new AbortController()
  stream = controller
  byId('unsubscribe').disabled = false
  try {
    await follow(controller.signal)
  } catch (error) {
    if (stream !== controller) return
    byId('stream-state').textContent = controller.signal.aborted ? 'not connected' : String(error)
  }
  if (stream === controller) byId('unsubscribe').disabled = true
}

async function publish(submit) {
  submit.preventDefault()
  const body = new URLSearchParams()
  for (const topic of linesOf('topics')) body.append('topic', topic)
  body.append('data', byId('data').value)
  for (const name of ['id', 'type', 'retry']) body.append(name, byId(name).value)
  if (byId('private').checked) body.append('private', 'on')
  const response = await fetch(HUB, { method: 'POST', headers: authorization(), body })
  const text = await response.text()
  byId('published').textContent = response.ok ? `accepted as ${text}` : `${response.status} ${text}`
}

async function showSubscriptions() {
  const response = await fetch(`${HUB}/subscriptions`, { headers: authorization() })
  const list = byId('subscriptions')
  if (!response.ok) {
    byId('subscriptions-state').textContent = `${response.status} ${await response.text()}`
    list.replaceChildren()
    return
  }
  const { subscriptions } = await response.json()
  byId('subscriptions-state').textContent = `${subscriptions.length} active`
  const entry = ({ match_type, match, subscriber, payload }) =>
    item(
      `${match_type} ${match}`,
      payload === undefined ? subscriber : `${subscriber}\n${JSON.stringify(payload)}`,
    )
  list.replaceChildren(...subscriptions.map(entry))
}

async function showModes() {
  const config = await (await fetch('config.json')).json()
  const words = [
    config.playground ? 'development mode' : '',
    config.anonymous ? 'anonymous subscribers allowed' : 'subscribers need a token',
    config.subscriptions ? 'subscriptions are listed' : 'subscriptions are not listed',
    `cookie ${config.cookieName}`,
  ]
  byId('modes').textContent = words.filter((word) => word !== '').join(', ')
  if (config.subscriptions) await showSubscriptions()
  else byId('subscriptions-state').textContent = 'MERCURE_SUBSCRIPTIONS is off'
}

byId('token-form').addEventListener('submit', (submit) => submit.preventDefault())
byId('subscribe').addEventListener('submit', start)
byId('unsubscribe').addEventListener('click', () => stream?.abort())
byId('publish').addEventListener('submit', publish)
byId('clear').addEventListener('click', () => byId('events').replaceChildren())
byId('refresh').addEventListener('click', showSubscriptions)
await showModes()
