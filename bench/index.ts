/** `npm run bench -- [name …]`: every bench, or those named. */
const BENCHES = ['auth', 'queue', 'hub', 'postgres'] as const

const wanted = process.argv.slice(2)
const names = wanted.length > 0 ? wanted : BENCHES
for (const name of names) {
  if (!BENCHES.some((known) => known === name)) {
    console.error(`no bench named ${name}; there are ${BENCHES.join(', ')}`)
    process.exit(2)
  }
  const bench: { run(): Promise<void> } = await import(`./${name}/index.ts`)
  await bench.run()
}
