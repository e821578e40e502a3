/** Why a move was refused or stopped. */
export type MoveErrorReason = 'no_source' | 'target_in_use' | 'other_source' | 'not_equal'

/** The move of a store cannot go on; the message says what to do. */
export class StoreMoveError extends Error {
  readonly code = 'store_move'
  readonly reason: MoveErrorReason
  constructor(reason: MoveErrorReason, message: string) {
    super(message)
    this.name = 'StoreMoveError'
    this.reason = reason
  }
}
