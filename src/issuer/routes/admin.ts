import { Router } from 'express'
import { v7 as uuidv7 } from 'uuid'
import { answerJson, answerNothing, type Operation, operation } from '../../http/index.ts'
import { forbidStoring, isoTime, readArguments, readParam } from '../answers.ts'
import { newDeviceKey } from '../device-keys.ts'
import { IssuerError } from '../errors.ts'
import { ability, deviceId, herdId, userId } from '../names.ts'
import type { IssuerParts } from '../parts.ts'
import {
  deviceBody,
  devicesShape,
  errorShape,
  herdBody,
  herdShape,
  herdsShape,
  newDeviceShape,
  rotatedDeviceShape,
} from '../shapes.ts'
import type { DeviceRow, HerdRow } from '../store.ts'

/** The principals' administration; the gate asks for the admin level on all that is below it. */
const ADMIN_PREFIX = '/api/v1/system/pubsub'
const PATHS = {
  herds: `${ADMIN_PREFIX}/herds`,
  herd: `${ADMIN_PREFIX}/herds/:id`,
  devices: `${ADMIN_PREFIX}/devices`,
  device: `${ADMIN_PREFIX}/devices/:id`,
  rotate: `${ADMIN_PREFIX}/devices/:id/rotate`,
  ability: `${ADMIN_PREFIX}/users/:user/herds/:herd/:ability`,
  superadmin: `${ADMIN_PREFIX}/users/:user/superadmin`,
} as const

const BAD = { about: 'A bad argument.', json: errorShape }
const NO_HERD = { about: 'No such herd.', json: errorShape }
const NO_DEVICE = { about: 'No such device.', json: errorShape }
const DONE = { about: 'Done; takes effect at the next mint.' }

/** The administration for the API document. */
export const ADMIN_OPERATIONS: readonly Operation[] = [
  operation({
    method: 'POST',
    path: PATHS.herds,
    body: herdBody,
    answers: {
      201: { about: 'The new herd.', json: herdShape },
      400: BAD,
      409: { about: 'The herd exists.', json: errorShape },
    },
  }),
  operation({
    method: 'GET',
    path: PATHS.herds,
    answers: { 200: { about: 'All herds, by id.', json: herdsShape } },
  }),
  operation({
    method: 'DELETE',
    path: PATHS.herd,
    answers: {
      204: {
        about: 'Gone, with its devices and abilities; minted tokens live on until they expire.',
      },
      404: NO_HERD,
    },
  }),
  operation({
    method: 'POST',
    path: PATHS.devices,
    body: deviceBody,
    answers: {
      201: { about: 'The new device; its api key is shown this once.', json: newDeviceShape },
      400: BAD,
      404: NO_HERD,
    },
  }),
  operation({
    method: 'GET',
    path: PATHS.devices,
    answers: { 200: { about: 'All devices, oldest first, without keys.', json: devicesShape } },
  }),
  operation({
    method: 'POST',
    path: PATHS.rotate,
    answers: {
      200: { about: 'A new api key; the former one is refused.', json: rotatedDeviceShape },
      404: NO_DEVICE,
    },
  }),
  operation({
    method: 'DELETE',
    path: PATHS.device,
    answers: { 204: { about: 'Gone; minted tokens live on until they expire.' }, 404: NO_DEVICE },
  }),
  operation({ method: 'PUT', path: PATHS.ability, answers: { 204: DONE, 400: BAD, 404: NO_HERD } }),
  operation({ method: 'DELETE', path: PATHS.ability, answers: { 204: DONE, 400: BAD } }),
  operation({ method: 'PUT', path: PATHS.superadmin, answers: { 204: DONE, 400: BAD } }),
  operation({ method: 'DELETE', path: PATHS.superadmin, answers: { 204: DONE, 400: BAD } }),
]

const herdAnswer = ({ id, createdAtMs }: HerdRow) => ({ id, created_at: isoTime(createdAtMs) })

const deviceAnswer = ({ id, herdId: herd, name, createdAtMs }: DeviceRow) => ({
  id,
  herd_id: herd,
  name,
  created_at: isoTime(createdAtMs),
})

function need(done: boolean, what: string): void {
  if (!done) throw new IssuerError('not_found', what)
}

function herdRoutes(router: Router, { store, clock }: IssuerParts): void {
  router.post(PATHS.herds, async (req, res) => {
    const { id } = await readArguments(req, res, herdBody)
    const herd = { id, createdAtMs: clock.now() }
    if (!(await store.createHerd(herd))) throw new IssuerError('conflict', 'The herd exists')
    answerJson(res, 201, herdAnswer(herd))
  })
  router.get(PATHS.herds, async (_req, res) => {
    answerJson(res, 200, { herds: (await store.herds()).map(herdAnswer) })
  })
  router.delete(PATHS.herd, async (req, res) => {
    const id = readParam(req, 'id', herdId, 'not_found')
    need(await store.deleteHerd(id), 'Unknown herd')
    answerNothing(res)
  })
}

function deviceRoutes(router: Router, { store, clock, log }: IssuerParts): void {
  router.post(PATHS.devices, async (req, res) => {
    forbidStoring(res)
    const { herd_id: herd, name } = await readArguments(req, res, deviceBody)
    const nowMs = clock.now()
    const id = uuidv7({ msecs: nowMs })
    const { apiKey, hash } = newDeviceKey(id)
    const device = { id, herdId: herd, name, createdAtMs: nowMs }
    need(await store.createDevice(device, hash), 'Unknown herd')
    log.info({ device: id, herd }, 'device created')
    answerJson(res, 201, { id, herd_id: herd, name, api_key: apiKey })
  })
  router.get(PATHS.devices, async (_req, res) => {
    answerJson(res, 200, { devices: (await store.devices()).map(deviceAnswer) })
  })
  router.post(PATHS.rotate, async (req, res) => {
    forbidStoring(res)
    const id = readParam(req, 'id', deviceId, 'not_found')
    const { apiKey, hash } = newDeviceKey(id)
    need(await store.rotateDevice(id, hash), 'Unknown device')
    log.info({ device: id }, 'device key rotated')
    answerJson(res, 200, { id, api_key: apiKey })
  })
  router.delete(PATHS.device, async (req, res) => {
    const id = readParam(req, 'id', deviceId, 'not_found')
    need(await store.deleteDevice(id), 'Unknown device')
    answerNothing(res)
  })
}

function userRoutes(router: Router, { store }: IssuerParts): void {
  router.put(PATHS.ability, async (req, res) => {
    const user = readParam(req, 'user', userId)
    const grant = {
      user,
      herdId: readParam(req, 'herd', herdId),
      ability: readParam(req, 'ability', ability),
    }
    need(await store.grant(grant), 'Unknown herd')
    answerNothing(res)
  })
  router.delete(PATHS.ability, async (req, res) => {
    const user = readParam(req, 'user', userId)
    await store.withdraw({
      user,
      herdId: readParam(req, 'herd', herdId),
      ability: readParam(req, 'ability', ability),
    })
    answerNothing(res)
  })
  router.put(PATHS.superadmin, async (req, res) => {
    await store.setSuperadmin(readParam(req, 'user', userId), true)
    answerNothing(res)
  })
  router.delete(PATHS.superadmin, async (req, res) => {
    await store.setSuperadmin(readParam(req, 'user', userId), false)
    answerNothing(res)
  })
}

/** Administration of herds, devices and users' rights (token issuing, 1.6). */
export function adminRouter(parts: IssuerParts): Router {
  const router = Router({ caseSensitive: true, strict: true })
  herdRoutes(router, parts)
  deviceRoutes(router, parts)
  userRoutes(router, parts)
  return router
}
