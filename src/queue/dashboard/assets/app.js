import { api } from './api.js'
import { h } from './dom.js'
import { dlqView } from './views/dlq.js'
import { groupsView } from './views/groups.js'
import { messagesView, messageView } from './views/messages.js'
import { overviewView } from './views/overview.js'
import { queuesView, queueView } from './views/queues.js'
import { systemView } from './views/system.js'

const HEALTH_MS = 5000

/** Views that stand in the menu; a view gets the rest of the path and the query and returns `{ title, element, refresh?, everyMs? }`. */
const MENU = [
  ['overview', 'Overview', overviewView],
  ['queues', 'Queues', queuesView],
  ['groups', 'Consumer groups', groupsView],
  ['messages', 'Messages', messagesView],
  ['dlq', 'Dead letters', dlqView],
  ['system', 'System', systemView],
]
const DETAIL = new Map([
  ['queues', queueView],
  ['messages', messageView],
])

const main = document.getElementById('main')
const notice = document.getElementById('notice')
let timer

function say(fault) {
  notice.hidden = fault === null
  notice.textContent = fault === null ? '' : fault.message
}

function readHash() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?')
  const parts = path.split('/').map(decodeURIComponent)
  const entry = MENU.find(([key]) => key === parts[0]) ?? MENU[0]
  return { entry, rest: parts.slice(1), search: new URLSearchParams(search) }
}

function markCurrent(key) {
  for (const link of document.querySelectorAll('#nav a')) {
    if (link.dataset.key === key) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

async function keepFresh(view) {
  try {
    await view.refresh?.()
    say(null)
  } catch (fault) {
    say(fault)
  }
  if (view.everyMs && main.contains(view.element)) {
    timer = setTimeout(() => void keepFresh(view), view.everyMs)
  }
}

async function show() {
  clearTimeout(timer)
  const { entry, rest, search } = readHash()
  const [key, label, menuView] = entry
  const build = rest.length > 0 && DETAIL.has(key) ? DETAIL.get(key) : menuView
  markCurrent(key)
  try {
    const view = await build(rest, search)
    const title = view.title ?? label
    document.title = `${title} · hivegate`
    main.replaceChildren(h('h1', null, title), view.element)
    await keepFresh(view)
  } catch (fault) {
    main.replaceChildren(h('h1', null, label))
    say(fault)
  }
  main.dataset.view = key
}

async function watchHealth() {
  const pill = document.getElementById('health')
  const { status, hub } = await api.health().catch(() => ({ status: 'unreachable' }))
  document.getElementById('debugger').hidden = hub?.debugger !== true
  pill.textContent = status
  pill.className = `pill ${status === 'healthy' ? 'good' : 'bad'}`
  setTimeout(() => void watchHealth(), HEALTH_MS)
}

function useTheme() {
  const root = document.documentElement
  const stored = localStorage.getItem('theme')
  if (stored) root.dataset.theme = stored
  document.getElementById('theme').addEventListener('click', () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches
    root.dataset.theme = dark ? 'light' : 'dark'
    localStorage.setItem('theme', root.dataset.theme)
    void show()
  })
}

document
  .getElementById('nav')
  .append(...MENU.map(([key, label]) => h('a', { href: `#/${key}`, 'data-key': key }, label)))
useTheme()
addEventListener('hashchange', () => {
  void show()
  main.focus()
})
void show()
void watchHealth()
