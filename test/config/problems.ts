import { ConfigError, loadConfig } from '../../src/config/index.ts'

/** What reading settings finds wrong with them; nothing when they are taken. */
export function problemsIn(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** The same for a whole environment. */
export function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  return problemsIn(() => loadConfig(env))
}
