import { writeFileSync } from 'node:fs'
import { envExample } from '../src/config/env-example.ts'
import { SECTIONS } from '../src/config/index.ts'

writeFileSync(new URL('../.env.example', import.meta.url), envExample(SECTIONS))
