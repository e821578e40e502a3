/** A bare Express app behind the middleware; run by `startAuthProcess`. It prints its port. */
import express from 'express'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { portOf } from './express-app.ts'

const app = express()
app.use(brokerAuth(loadAuthConfig()))
app.use((_req, res) => {
  res.json({ reached: true })
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${portOf(server)}\n`)
})
