import express from 'express'

// The yardstick: an Express app that parses the same JSON and answers at once, storing nothing.
const app = express()
app.disable('x-powered-by')
app.set('etag', false)
const json = express.json({ limit: '64mb' })

const ID = '0191d3c2-7a61-7c3e-9f0e-3d1f5d0a9b11'

app.post('/api/v1/push', json, (req, res) => {
  const items: readonly { queue: string; transactionId?: string }[] = req.body.items
  res.status(201).json(
    items.map((item, index) => ({
      index,
      transaction_id: item.transactionId ?? ID,
      message_id: ID,
      status: 'queued',
      partition_id: ID,
      trace_id: null,
      queueName: item.queue,
    })),
  )
})

app.get('/api/v1/pop/queue/:queue', (req, res) => {
  const { queue } = req.params
  const message = {
    id: ID,
    transactionId: ID,
    traceId: null,
    data: { order: 1, text: 'a payload of the usual size', tags: ['a', 'b'] },
    producerSub: null,
    createdAt: '2026-01-01T00:00:00.000000Z',
    partitionId: ID,
    partition: 'Default',
    leaseId: ID,
    consumerGroup: '__QUEUE_MODE__',
  }
  res.json({
    success: true,
    queue,
    partition: 'Default',
    partitionId: ID,
    leaseId: ID,
    consumerGroup: '__QUEUE_MODE__',
    partitionsClaimed: 1,
    messages: [message],
  })
})

app.post('/api/v1/ack', json, (req, res) => {
  res.json([
    {
      index: 0,
      transactionId: req.body.transactionId,
      success: true,
      error: null,
      leaseReleased: true,
      dlq: false,
      queueName: 'bench',
      partitionName: 'Default',
    },
  ])
})

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`listening ${address.port}`)
})
process.on('SIGTERM', () => process.exit(0))
