import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseCookie } from 'cookie'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
// An installed package is imported as 'hivegate/issuer'.
import {
  attachSubscriberCookie,
  type SubscriberTokenIssuer,
  subscriberTokenEndpoint,
} from '../../src/issuer/index.ts'
import { type Trip, Trips, topicOf } from './trips.ts'

/** What the app needs from outside. */
export interface TripsAppOptions {
  readonly issuer: SubscriberTokenIssuer
  /** Where clients subscribe. */
  readonly hubUrl: () => string
  readonly publish: (topic: string, data: unknown) => Promise<void>
  /** Lifetime of a subscriber token in seconds. */
  readonly ttlSeconds: number
  /** How many steps a computation has. */
  readonly steps: number
  /** Resolves when a step is worked out. */
  readonly work: (step: number) => Promise<void>
}

const PAGE = readFileSync(new URL('page.html', import.meta.url), 'utf8')
const SESSION_COOKIE = '__Host-session'

/** Sessions by their id; this example lets everyone in who gives a name. */
class Sessions {
  readonly #users = new Map<string, string>()

  start(user: string): string {
    const id = randomUUID()
    this.#users.set(id, user)
    return id
  }

  /** Who asks: browsers show the session as a cookie, other clients as a Bearer value. Nobody is asked which he is. */
  userOf(req: Request): string | undefined {
    const bearer = /^Bearer (\S+)$/i.exec(req.headers.authorization ?? '')?.[1]
    const id = bearer ?? parseCookie(req.headers.cookie ?? '')[SESSION_COOKIE]
    return id === undefined ? undefined : this.#users.get(id)
  }
}

/** The computation: many steps, each told to those who may see the trip. */
async function compute(trip: Trip, { publish, steps, work }: TripsAppOptions): Promise<void> {
  for (let step = 1; step <= steps; step += 1) {
    await work(step)
    await publish(topicOf(trip.id), { step, steps, done: step === steps })
  }
}

/** Answers the trip with its cookie and with the way to its updates (hub discovery). */
async function answerTrip(
  res: Response,
  trip: Trip,
  { issuer, hubUrl, ttlSeconds }: TripsAppOptions,
): Promise<void> {
  const topic = topicOf(trip.id)
  await attachSubscriberCookie(res, { topic, issuer, ttlSeconds, subject: trip.owner })
  res.append('Link', [`<${hubUrl()}>; rel="mercure"`, `<${topic}>; rel="self"`])
  res.json({ id: trip.id, destination: trip.destination })
}

function requireUser(sessions: Sessions): RequestHandler {
  return (req, res, next) => {
    res.locals['user'] = sessions.userOf(req)
    if (res.locals['user'] === undefined) res.status(401).json({ error: 'Log in first' })
    else next()
  }
}

const userOf = (req: Request): string => String(req.res?.locals['user'])

/** The app: log in, create a trip, look at it, and get a token for its live updates. */
export function tripsApp(options: TripsAppOptions): Express {
  const trips = new Trips()
  const sessions = new Sessions()
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.get('/', (_req, res) => {
    res.type('html').send(PAGE)
  })
  app.post('/login', express.json(), (req, res) => {
    const session = sessions.start(String(req.body.user))
    res.cookie(SESSION_COOKIE, session, { secure: true, httpOnly: true, sameSite: 'strict' })
    res.json({ session })
  })
  app.use(requireUser(sessions))
  app.post('/trips', express.json(), async (req, res) => {
    const trip = trips.create(userOf(req), String(req.body.destination))
    compute(trip, options).catch((error: unknown) => console.error('computation failed', error))
    res.status(201)
    await answerTrip(res, trip, options)
  })
  app.get('/trips/:id', async (req, res) => {
    const trip = trips.findFor(userOf(req), req.params.id)
    if (trip) await answerTrip(res, trip, options)
    else res.status(404).json({ error: 'Not Found' })
  })
  app.use(
    subscriberTokenEndpoint({
      path: '/trips/:id/mercure-token',
      topic: ({ id }) => topicOf(String(id)),
      canView: (req) => trips.findFor(userOf(req), String(req.params['id'])) !== undefined,
      issuer: options.issuer,
      ttlSeconds: options.ttlSeconds,
      subject: userOf,
    }),
  )
  return app
}
