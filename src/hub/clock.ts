/** Where the hub reads the time: ms since 1970, as `Date`. */
export interface Clock {
  now(): number
}
