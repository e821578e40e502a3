/** Raised for an answer that is not 2xx; the message is the broker's own. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

async function call(method, path, body) {
  const reply = await fetch(path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const value = await reply.json().catch(() => null)
  if (!reply.ok)
    throw new ApiError(reply.status, value?.error ?? `the broker answered ${reply.status}`)
  return value
}

/** Query string from an object; empty values are left out. */
export function query(parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== '' && value != null)
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`
}

const at = encodeURIComponent

/** Every call that the page makes. */
export const api = {
  health: () => call('GET', '/health'),
  overview: () => call('GET', '/api/v1/resources/overview'),
  status: () => call('GET', '/api/v1/status'),
  queues: () => call('GET', '/api/v1/resources/queues').then(({ queues }) => queues),
  queue: (name) => call('GET', `/api/v1/status/queues/${at(name)}`),
  groups: () => call('GET', '/api/v1/consumer-groups'),
  group: (name) => call('GET', `/api/v1/consumer-groups/${at(name)}`),
  messages: (filter) => call('GET', `/api/v1/messages${query(filter)}`),
  message: (partition, id) => call('GET', `/api/v1/messages/${at(partition)}/${at(id)}`),
  traces: (partition, id) => call('GET', `/api/v1/traces/${at(partition)}/${at(id)}`),
  dlq: (filter) => call('GET', `/api/v1/dlq${query(filter)}`),
  replay: (id) => call('POST', `/api/v1/dlq/${at(id)}/replay`, {}),
  maintenance: () => call('GET', '/api/v1/system/maintenance'),
  setMaintenance: (enabled) => call('POST', '/api/v1/system/maintenance', { enabled }),
  setPopMaintenance: (enabled) => call('POST', '/api/v1/system/maintenance/pop', { enabled }),
}
