/** What all runs of this bench have in common. */
export const ROUNDS = 3
export const SECONDS = 2
/** Callers at the same time, and connections over HTTP. */
export const CALLERS = 64
export const BATCH = 100
/** Partitions of hivegate's queues; more than there are callers, since a lease takes a whole one. */
export const PARTITIONS = 256
/** Settings of the server that differ from its own defaults: no checkpoint in the middle of a run. */
export const SERVER_SETTINGS = `shared_buffers = 512MB
max_wal_size = 4GB
checkpoint_timeout = 30min
`
