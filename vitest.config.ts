import { defineConfig } from 'vitest/config'

/** Suites over HTTP that run a second time with every broker on a PostgreSQL database of its own. */
const ON_BOTH_STORES = [
  'test/e2e/**/*.test.ts',
  'test/hub/broker/**/*.test.ts',
  'test/issuer/broker.test.ts',
  'test/queue/routes/**/*.test.ts',
]

/** Suites over HTTP that run a third time against two brokers on one database, whose requests take turns. */
const ON_TWO_BROKERS = ['client', 'sharing', 'upkeep', 'maintenance'].map(
  (suite) => `test/e2e/${suite}.test.ts`,
)

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/postgres/setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ON_BOTH_STORES,
          // They bring a server of their own to break.
          exclude: ['test/e2e/postgres-*.test.ts'],
          globalSetup: ['test/support/postgres/setup.ts'],
          env: { HIVEGATE_TEST_STORE: 'postgres' },
        },
      },
      {
        extends: true,
        test: {
          name: 'two-brokers',
          include: ON_TWO_BROKERS,
          globalSetup: ['test/support/postgres/setup.ts'],
          env: { HIVEGATE_TEST_STORE: 'postgres', HIVEGATE_TEST_BROKERS: '2' },
        },
      },
    ],
  },
})
