import type autocannon from 'autocannon'

/** One message body as an application would push it: about 70 bytes. */
export const PAYLOAD = { order: 1, text: 'a payload of the usual size', tags: ['a', 'b'] }

const JSON_HEADERS = { 'content-type': 'application/json' }

/** The bodies of pushes of `count` messages, one to each of `partitions` partitions. */
export function pushBodies(queue: string, count: number, partitions: number): readonly string[] {
  return Array.from({ length: partitions }, (_, partition) =>
    JSON.stringify({
      items: Array.from({ length: count }, () => ({
        queue,
        partition: `p${partition}`,
        payload: PAYLOAD,
      })),
    }),
  )
}

/** A push of `count` messages; each request goes to one of `partitions` partitions in turn. */
export function pushRequest(queue: string, count: number, partitions: number): autocannon.Request {
  let turn = 0
  const bodies = pushBodies(queue, count, partitions)
  const request = { method: 'POST', path: '/api/v1/push', headers: JSON_HEADERS } as const
  const [only = '', ...others] = bodies
  // A request that never changes is made once; made anew each time it would cost the load as much as its answer.
  if (others.length === 0) return { ...request, body: only }
  return {
    ...request,
    setupRequest: (made) => {
      turn = (turn + 1) % bodies.length
      return { ...made, body: bodies[turn] ?? '' }
    },
  }
}

interface Popped {
  readonly messages: readonly { transactionId: string; partitionId: string; leaseId: string }[]
}

/** One pop of up to `batch` messages, then the ack of those; `counted` is told how many each pop brought. */
export function popAndAckRequests(
  queue: string,
  batch = 1,
  counted: (messages: number) => void = () => {},
): autocannon.Request[] {
  return [
    {
      method: 'GET',
      path: `/api/v1/pop/queue/${queue}?batch=${batch}&wait=true&timeout=5000`,
      onResponse: (status, body, context) => {
        if (status !== 200) throw new Error(`pop answered ${status}: the queue ran empty`)
        const { messages } = JSON.parse(body) as Popped
        counted(messages.length)
        Object.assign(context, { ack: batch === 1 ? ackOf(messages) : batchAckOf(messages) })
      },
    },
    {
      method: 'POST',
      path: batch === 1 ? '/api/v1/ack' : '/api/v1/ack/batch',
      headers: JSON_HEADERS,
      setupRequest: (request, context) => ({ ...request, body: (context as { ack: string }).ack }),
    },
  ]
}

/** The body of the client's single ack: the ids and the status, not the message. */
function ackOf([message]: Popped['messages']): string {
  if (message === undefined) throw new Error('a pop brought nothing')
  const { transactionId, partitionId, leaseId } = message
  return JSON.stringify({ transactionId, partitionId, leaseId, status: 'completed' })
}

function batchAckOf(messages: Popped['messages']): string {
  const acknowledgments = messages.map(({ transactionId, partitionId, leaseId }) => {
    return { transactionId, partitionId, leaseId, status: 'completed' }
  })
  return JSON.stringify({ acknowledgments })
}

/** A pop that acknowledges at delivery. */
export function autoAckPopRequest(queue: string): autocannon.Request {
  return {
    method: 'GET',
    path: `/api/v1/pop/queue/${queue}?batch=1&autoAck=true`,
    onResponse: (status) => {
      if (status !== 200) throw new Error(`pop answered ${status}: the queue ran empty`)
    },
  }
}

const FILL_BATCH = 1000

/** Pushes `count` messages, spread evenly over `partitions` partitions. */
export async function fill(
  url: string,
  queue: string,
  count: number,
  partitions: number,
): Promise<void> {
  for (let done = 0; done < count; done += FILL_BATCH) {
    const items = Array.from({ length: Math.min(FILL_BATCH, count - done) }, (_, index) => ({
      queue,
      partition: `p${(done + index) % partitions}`,
      payload: PAYLOAD,
    }))
    const reply = await fetch(`${url}/api/v1/push`, {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ items }),
    })
    if (reply.status !== 201) throw new Error(`push answered ${reply.status}`)
    await reply.arrayBuffer()
  }
}
