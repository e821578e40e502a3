import { DEFAULT_OPTIONS, DEFAULT_PARTITION, mergeOptions } from '../../model.ts'
import type { Writes } from '../../store.ts'
import type { Appender } from './append.ts'
import type { Context } from './context.ts'
import type { QueueState } from './state.ts'

type Args = Writes['configure']['args']
type Result = Writes['configure']['result']

/** Messages that waited for a delay or window must not wait longer than the new one asks. */
function lookAgain(context: Context, queue: QueueState, nowUs: number): void {
  for (const { id } of queue.subscriptions.values()) {
    if (context.cursors.lookAgain(nowUs, id, nowUs) > 0) context.wake(queue, null)
  }
}

/** Creates or changes a queue and its `Default` partition. Queue API 5.1. */
export function configure(context: Context, appender: Appender, args: Args): Result {
  const { queue: name, namespace, task, options: given, mode, nowUs } = args
  const known = context.queues.byName(name)
  const before = known?.options ?? DEFAULT_OPTIONS
  const options = mergeOptions(before, given, mode)
  const labels = { namespace: namespace ?? '', task: task ?? '' }
  const queue = known ?? context.queues.create({ name, ...labels, options }, nowUs)
  if (known !== undefined) {
    queue.namespace = namespace ?? queue.namespace
    queue.task = task ?? queue.task
    queue.options = options
    context.queues.save(queue)
    const sooner =
      options.delayedProcessing < before.delayedProcessing ||
      options.windowBuffer < before.windowBuffer
    if (sooner) lookAgain(context, queue, nowUs)
  }
  // Pops by namespace or task that wait must meet a new queue, or one that has changed its labels.
  const met = known !== undefined && namespace === null && task === null
  if (!met) context.wake(queue, null)
  const partition = appender.partition(queue, DEFAULT_PARTITION, nowUs)
  return {
    queueId: queue.uuid,
    partitionId: partition.uuid,
    namespace: queue.namespace,
    task: queue.task,
    options: queue.options,
  }
}
