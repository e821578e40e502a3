import type { Broker } from '../assembly/broker.ts'
import type { Logger } from '../http/index.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** After the drain time the process ends whatever still hangs; what was answered has been committed. */
function leaveAfter(ms: number, log: Logger): void {
  setTimeout(() => {
    log.error('drain time is over, leaving')
    process.exit(1)
  }, ms).unref()
}

async function drain(broker: Broker, log: Logger, drainTimeoutMs: number): Promise<void> {
  leaveAfter(drainTimeoutMs, log)
  try {
    await broker.stop()
    log.info('stopped')
    process.exit(0)
  } catch (error) {
    log.fatal({ err: error }, 'could not stop cleanly')
    process.exit(1)
  }
}

/**
 * Ends the process after the first signal has drained the broker, with code 0; a second signal ends it at once.
 * SIGHUP reads the certificate again. An error that nobody caught is logged and ends the process with code 1: its state cannot be trusted.
 */
export function exitAfterDrain(broker: Broker, log: Logger, drainTimeoutMs: number): void {
  let draining = false
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (draining) process.exit(1)
      draining = true
      log.info({ signal }, 'draining')
      void drain(broker, log, drainTimeoutMs)
    })
  }
  process.on('SIGHUP', () => broker.reloadCertificate())
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error')
    process.exit(1)
  })
}
