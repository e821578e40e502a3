import { defineConfig } from 'vitest/config'
import { BOTH_STORES, TWO_BROKERS } from './test/support/suites.ts'

/** Every project may use the PostgreSQL cluster of the run. */
const globalSetup = ['test/support/postgres/setup.ts']

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
        test: { name: 'sqlite', include: ['test/**/*.test.ts'], globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...BOTH_STORES],
          globalSetup,
          env: { HIVEGATE_TEST_STORE: 'postgres' },
        },
      },
      {
        extends: true,
        test: {
          name: 'two-brokers',
          include: [...TWO_BROKERS],
          globalSetup,
          env: { HIVEGATE_TEST_STORE: 'postgres', HIVEGATE_TEST_BROKERS: '2' },
        },
      },
    ],
  },
})
