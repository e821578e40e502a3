/**
 * `hivegate`: the whole broker as a library. `startBroker(loadConfig(), { log })` opens the store and listens;
 * `createApp` only puts the parts together.
 */
export { type AppParts, type BrokerApp, createApp } from './app.ts'
export { BootError, type Broker, type BrokerOptions, startBroker } from './assembly/broker.ts'
export * from './auth.ts'
export { type Config, loadConfig } from './config/index.ts'
export { createListener, createLog, type Logger } from './http/index.ts'
export type { QueueEngine } from './queue/index.ts'
export { StoreError } from './storage/index.ts'
