/**
 * `npm run example:trips`: starts the app and a broker, follows one trip with a Node client, shows what a stranger
 * gets, and leaves the app running for a browser. Ctrl+C ends it; `--once` ends after the trip.
 */
import { fetchToken, followTrip, login, NoSuchTripError } from './client.ts'
import { send, textOf } from './https.ts'
import { startTrips } from './start.ts'

const once = process.argv.includes('--once')
const trips = await startTrips({ port: once ? 0 : 8443, steps: 5 })
const { appUrl, ca } = trips
console.log(`app  ${appUrl}\nhub  ${trips.hubUrl}`)

const session = await login(appUrl, ca, 'ada')
const created = await send({
  url: `${appUrl}/trips`,
  ca,
  method: 'POST',
  headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
  body: JSON.stringify({ destination: 'Lisbon' }),
})
const { id } = JSON.parse(await textOf(created))
console.log(`ada created trip ${id}; cookie set: ${created.headers['set-cookie'] !== undefined}`)

await followTrip({ appUrl, ca, session }, id, {
  onProgress: ({ step, steps }) => console.log(`ada sees step ${step} of ${steps}`),
})

const stranger = { appUrl, ca, session: await login(appUrl, ca, 'bob') }
for (const wanted of [id, 'no-such-trip']) {
  await fetchToken(stranger, wanted).catch((error: unknown) => {
    if (!(error instanceof NoSuchTripError)) throw error
    console.log(`bob asks for ${wanted === id ? 'that trip' : 'a missing one'}: 404 ${error.body}`)
  })
}

if (once) await trips.stop()
else {
  console.log(`open ${appUrl} in a browser (its certificate is self-signed); Ctrl+C ends`)
  process.once('SIGINT', () => void trips.stop())
}
