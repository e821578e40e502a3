import { luaText } from '../harness/wrk.ts'
import { pushBodies } from './traffic.ts'

const JSON_HEADERS = '{ ["content-type"] = "application/json" }'

/** `pushRequest` as a script of wrk. */
export function pushScript(queue: string, count: number, partitions: number): string {
  const bodies = pushBodies(queue, count, partitions)
  return `
local bodies = { ${bodies.map(luaText).join(', ')} }
local requests, turn = {}, 0
function init()
  for at, body in ipairs(bodies) do
    requests[at] = wrk.format("POST", "/api/v1/push", ${JSON_HEADERS}, body)
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`
}

/** `popAndAckRequests` of one message as a script of wrk: whatever is popped on one connection is acked next on any. */
export function popAndAckScript(queue: string): string {
  return `
local pop
local acks = {}
function init()
  pop = wrk.format("GET", "/api/v1/pop/queue/${queue}?batch=1&wait=true&timeout=5000")
end
function request()
  local ack = table.remove(acks)
  if ack == nil then return pop end
  return wrk.format("POST", "/api/v1/ack", ${JSON_HEADERS}, ack)
end
function response(status, _, body)
  if status ~= 200 then error("answered " .. status .. ": the queue ran empty") end
  local lease = body:match('"leaseId":"([^"]+)"')
  -- An ack is answered without a lease.
  if lease == nil then return end
  acks[#acks + 1] = '{"transactionId":"' .. body:match('"transactionId":"([^"]+)"') ..
    '","partitionId":"' .. body:match('"partitionId":"([^"]+)"') ..
    '","leaseId":"' .. lease .. '","status":"completed"}'
end
`
}
