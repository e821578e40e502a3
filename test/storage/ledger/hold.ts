// Opens the store in the folder of its first argument, says so, and stays until it is killed.
import { openSqliteHost } from '../../../src/storage/index.ts'

const dataDir = process.argv[2] ?? ''
const host = await openSqliteHost({
  dataDir,
  modules: [{ url: new URL('./module.ts', import.meta.url).href }],
})
await host.commit('ledger', [{ name: 'held', amount: 7 }])
process.stdout.write('open\n')
setInterval(() => {}, 60_000)
