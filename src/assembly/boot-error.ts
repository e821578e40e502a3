/** What keeps a broker from starting and is the operator's to mend; the message is one line that names the variable. */
export class BootError extends Error {
  readonly code = 'boot_failed'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BootError'
  }
}
