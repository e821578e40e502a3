import { defineConfig } from 'vitest/config'

/** Suites over HTTP that run a second time with every broker on a PostgreSQL database of its own. */
const ON_BOTH_STORES = [
  'test/e2e/**/*.test.ts',
  'test/hub/broker/**/*.test.ts',
  'test/issuer/broker.test.ts',
  'test/queue/routes/**/*.test.ts',
]

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
    ],
  },
})
