import { randomUUID } from 'node:crypto'

/** A trip; only its owner may know that it exists. */
export interface Trip {
  readonly id: string
  readonly owner: string
  readonly destination: string
}

/** The trips of the example, in memory. */
export class Trips {
  readonly #trips = new Map<string, Trip>()

  create(owner: string, destination: string): Trip {
    const trip = { id: randomUUID(), owner, destination }
    this.#trips.set(trip.id, trip)
    return trip
  }

  /** The one check of who may see a trip: undefined for a stranger's trip and for one that does not exist. */
  findFor(user: string, id: string): Trip | undefined {
    const trip = this.#trips.get(id)
    return trip?.owner === user ? trip : undefined
  }
}

/** The topic of a trip on the event hub. */
export const topicOf = (id: string): string => `/trips/${id}`
