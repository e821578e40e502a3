import { api } from '../api.js'
import { formatCount, h, tiles } from '../dom.js'

const LIVE_MS = 3000

function maintenanceSwitch({ title, about, on, set }) {
  const flip = async (event) => {
    event.target.disabled = true
    await set(!on)
  }
  return h(
    'section',
    { class: 'panel switch' },
    h('div', null, h('h2', null, title), h('p', null, about)),
    h(
      'button',
      {
        type: 'button',
        role: 'switch',
        'aria-checked': String(on),
        'aria-label': title,
        onclick: flip,
      },
      on ? 'On – turn off' : 'Off – turn on',
    ),
  )
}

/** Maintenance switches and the state of the broker. */
export function systemView() {
  const element = h('div')
  const refresh = async () => {
    const [state, health] = await Promise.all([api.maintenance(), api.health()])
    const then = (set) => async (enabled) => {
      await set(enabled)
      await refresh()
    }
    element.replaceChildren(
      tiles([
        ['Status', health.status],
        ['Store', health.database],
        ['Version', health.version],
        ['Buffered', formatCount(state.bufferedMessages)],
        ['Buffer', state.bufferHealthy ? 'healthy' : 'failing'],
      ]),
      h('h2', null, 'Maintenance'),
      maintenanceSwitch({
        title: 'Push maintenance',
        about: 'Pushes are kept in a durable buffer and stored in order when it is turned off.',
        on: state.maintenanceMode,
        set: then(api.setMaintenance),
      }),
      h('br'),
      maintenanceSwitch({
        title: 'Pop maintenance',
        about: 'Every pop answers empty at once; acknowledgements still count.',
        on: state.popMaintenanceMode,
        set: then(api.setPopMaintenance),
      }),
    )
  }
  return { element, refresh, everyMs: LIVE_MS }
}
