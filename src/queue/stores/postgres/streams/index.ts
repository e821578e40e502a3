export { cycle } from './cycle.ts'
export { registerQuery } from './register.ts'
