import { expect, test } from 'vitest'
import config from '../../vitest.config.ts'
import {
  ALL_SUITES,
  filesOf,
  ON_ONE_BROKER,
  ON_ONE_STORE,
  opensStore,
  type Reasons,
  reachedFrom,
} from './suites.ts'

/** The files of a project, as its own settings name them. */
function filesOfProject(name: string): readonly string[] {
  for (const project of config.test?.projects ?? []) {
    if (typeof project !== 'object' || !('test' in project)) continue
    if (project.test?.name !== name) continue
    const left = new Set(filesOf(project.test.exclude ?? []))
    return filesOf(project.test.include ?? []).filter((file) => !left.has(file))
  }
  throw new Error(`no project ${name}`)
}

const opening = ALL_SUITES.filter(opensStore)
const excused = (reasons: Reasons) => filesOf(Object.keys(reasons))

test('every suite runs on the embedded store', () => {
  expect(filesOfProject('sqlite')).toEqual(ALL_SUITES)
})

test('every suite that opens a store runs on PostgreSQL too, or has a reason not to', () => {
  const named = [...filesOfProject('postgres'), ...excused(ON_ONE_STORE)]
  expect(named.toSorted()).toEqual(opening)
})

test('every suite of those that starts brokers for HTTP runs before two of them too, or has a reason not to', () => {
  const serving = filesOfProject('postgres').filter((file) =>
    reachedFrom(file).has('test/support/broker.ts'),
  )
  const named = [...filesOfProject('two-brokers'), ...excused(ON_ONE_BROKER)]
  expect(named.toSorted()).toEqual(serving)
})

test('every reason speaks of a suite that is there', () => {
  for (const pattern of [...Object.keys(ON_ONE_STORE), ...Object.keys(ON_ONE_BROKER)]) {
    expect(filesOf([pattern]), pattern).not.toEqual([])
  }
})

test.each([
  ['a broker in this process', 'test/queue/routes/push.test.ts', true],
  ['a broker in another process', 'test/cli/serve/drain.test.ts', true],
  ['a broker of an example', 'test/examples/streams.test.ts', true],
  ['a store below several modules', 'test/hub/history.test.ts', true],
  ['an app with the gate alone', 'test/http/auth-levels.test.ts', false],
  ['a hub that keeps nothing', 'test/hub/subscribe.test.ts', false],
])('%s is told apart', (_what, file, opens) => {
  expect(opensStore(file)).toBe(opens)
})
