import { writeFileSync } from 'node:fs'
import { SECTIONS } from '../src/config/index.ts'
import { envExample } from '../src/config/env-example.ts'

writeFileSync(new URL('../.env.example', import.meta.url), envExample(SECTIONS))
