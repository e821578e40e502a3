import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** Keys shared by the load and the servers of one bench; handed over in the environment. */
export interface Material {
  readonly secret: string
  readonly publicPem: string
  readonly privatePem: string
  readonly jwksUri: string
}

const VARIABLE = 'BENCH_MATERIAL'

/** Makes fresh keys and puts them where child processes find them. */
export function makeMaterial(jwksUri: string, pair = rsaPair()): Material {
  const made = { secret: randomBytes(32).toString('hex'), ...pair, jwksUri }
  process.env[VARIABLE] = JSON.stringify(made)
  return made
}

/** A fresh RSA pair as PEM. */
export function rsaPair(): { publicPem: string; privatePem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicPem: publicKey, privatePem: privateKey }
}

/** The keys that the parent process made. */
export function material(): Material {
  const text = process.env[VARIABLE]
  if (text === undefined) throw new Error(`${VARIABLE} is not set`)
  return JSON.parse(text) as Material
}
