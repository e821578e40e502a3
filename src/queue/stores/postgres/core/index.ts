export { configure } from './configure.ts'
export { deleteQueue } from './delete-queue.ts'
export { extend, release } from './leases.ts'
export { transaction } from './transaction.ts'
