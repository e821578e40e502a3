/** No more long polls can be parked in this process; nothing was claimed. */
export class PollLimitError extends Error {
  readonly code = 'too_many_polls'
  readonly status = 503
  readonly retryAfterS = 1
  constructor() {
    super('Too many waiting pops, try again')
    this.name = 'PollLimitError'
  }
}
