import type { Router } from 'express'
import type { Operation } from '../http/index.ts'

/** A part of the broker that brings routes of its own; its router stands at the root, behind the gate. */
export interface Wing {
  readonly router: Router
  /** What its routes take and answer, for the API document. */
  readonly operations?: readonly Operation[]
  /** Paths whose cross-origin rules are the wing's own: the broker's CORS layer leaves them alone. */
  readonly ownsCors?: (path: string) => boolean
  /** Request headers that browsers may send to a path of the wing beyond those of every path. */
  readonly corsHeaders?: (path: string) => readonly string[]
  /** What `/health` says of the wing under this name. */
  readonly health?: readonly [name: string, read: () => unknown]
  /** Ends at once what would otherwise hold connections open; called first when the broker stops. */
  drain?(): Promise<void>
  /** Called when every connection is gone and before the store closes. */
  close?(): Promise<void> | void
}
