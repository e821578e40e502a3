import { isDeepStrictEqual } from 'node:util'
import type { Section, Variable } from './variable.ts'

/** How a value may be written, the plainest first; the reader itself tells which of them it takes for the value. */
function spellings(value: unknown): readonly string[] {
  if (Array.isArray(value)) return [value.join(',')]
  return [String(value), `${Number(value) / 1000}s`, `${Number(value)}ms`]
}

function valueText({ schema, fallback }: Variable<unknown>): string {
  const fits = (text: string) => {
    const read = schema.safeParse(text)
    return read.success && isDeepStrictEqual(read.data, fallback)
  }
  return spellings(fallback).find(fits) ?? ''
}

function rowText(row: Variable<unknown>): string {
  return `# ${row.about}.\n# Takes ${row.accepts}.\n#${row.name}=${valueText(row)}\n`
}

/** The text of `.env.example`: every variable with its meaning, what it takes and its default, commented out. */
export function envExample(sections: Readonly<Record<string, Section>>): string {
  const parts = Object.entries(sections).map(
    ([title, section]) => `## ${title}\n\n${Object.values(section).map(rowText).join('\n')}`,
  )
  const head =
    '# Settings of hivegate. Each line shows the default; remove the # to change it.\n' +
    '# Written by scripts/env-example.ts from the tables in src/config.\n'
  return `${head}\n${parts.join('\n')}`
}
