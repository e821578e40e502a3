import type { z } from 'zod'

/** The methods that rows of the route table may name. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY'

/** One status that an operation answers: what it means and, unless it has no body, what the body is. */
export interface Answer {
  /** One sentence for the API document. */
  readonly about: string
  /** The JSON body; a strict object, so that a member nobody documented is found by the tests. */
  readonly json?: z.ZodType
  /** The media type of that JSON body; default `application/json`. */
  readonly jsonType?: string
  /** The media type of a body that is not JSON. */
  readonly text?: string
}

/**
 * What one route takes and answers. The route parses with these very schemas, and the API document is
 * generated from them, so the two cannot differ. The level is not repeated here: it is in the route table.
 */
export interface Operation {
  readonly method: Method
  /** The route's pattern as Express and the route table spell it: `/api/v1/pop/queue/:queue`. */
  readonly path: string
  /** Query parameters; each member's input is the text of the parameter. */
  readonly query?: z.ZodObject
  /** The JSON body; absent: the route reads none. */
  readonly body?: z.ZodType
  /** A body of the type `application/x-www-form-urlencoded`, which the route reads with rules of its own. */
  readonly form?: z.ZodType
  /** True when the request may come without a body. */
  readonly bodyOptional?: boolean
  /** Every status of its own; 401, 403 and the failures that any route may have are added by the document. */
  readonly answers: Readonly<Record<number, Answer>>
}

/** Keeps the exact types of an operation's schemas while checking its form. */
export function operation<const O extends Operation>(description: O): O {
  return description
}
