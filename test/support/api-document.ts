import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Caller } from './broker.ts'

type Schema = Record<string, unknown>

interface Answer {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

/** One operation of the document. */
export interface DocumentedOperation {
  readonly 'x-access-level': string
  readonly responses: Readonly<Record<string, Answer>>
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[]
}

/** The part of an OpenAPI document that the tests look at. */
export interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: { readonly responses: Readonly<Record<string, Answer>> }
}

function patternOf(template: string): RegExp {
  const parts = template.split(/(\{\w+\})/).map((part) => {
    return part.startsWith('{') ? '[^/]+' : part.replace(/[.*+?^$()[\]\\|]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** The API document of a broker, and a check of live answers against it. */
export class ApiDocument {
  readonly document: Document
  /** Operations whose answers have been checked, as `METHOD /template`. */
  readonly visited = new Set<string>()
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })

  constructor(document: Document) {
    this.document = document
    // The default export is the function itself at run time.
    ;(addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv)
    this.#ajv.addSchema({ $id: 'document', ...document })
  }

  static async load(call: Caller): Promise<ApiDocument> {
    return new ApiDocument((await call('GET /openapi.json')).body)
  }

  /** The template and operation that a request belongs to; a literal path wins over a member. */
  find(method: string, path: string): readonly [template: string, DocumentedOperation] {
    const templates = Object.keys(this.document.paths)
      .filter((template) => patternOf(template).test(path))
      .toSorted((a, b) => a.split('{').length - b.split('{').length)
    for (const template of templates) {
      const operation = this.document.paths[template]?.[method.toLowerCase()]
      if (operation !== undefined) return [template, operation]
    }
    throw new Error(`${method} ${path} is not documented`)
  }

  /** Faults of an answer by the document; undefined when it is as documented. */
  faults(method: string, path: string, status: number, body: unknown): string | undefined {
    const [template, { responses }] = this.find(method, path)
    this.visited.add(`${method} ${template}`)
    const name = responses[status] === undefined ? 'default' : String(status)
    const place = this.#place(template, method.toLowerCase(), name)
    const answer = this.#at(place)
    const content = answer.content?.['application/json']
    if (content === undefined) return undefined
    const check = this.#ajv.getSchema(`document#${place}/content/application~1json/schema`)
    if (check === undefined) return `no schema at ${place}`
    return check(body) ? undefined : this.#ajv.errorsText(check.errors)
  }

  /** Compiles every schema. @throws for one that is no JSON Schema */
  compileAll(): number {
    let count = 0
    for (const methods of Object.values(this.document.paths)) {
      for (const { responses, requestBody, parameters } of Object.values(methods)) {
        const answers = Object.values(responses).flatMap(({ content }) =>
          Object.values(content ?? {}).map(({ schema }) => schema),
        )
        const taken = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
        const params = (parameters ?? []).map(({ schema }) => schema)
        for (const schema of [...answers, ...taken, ...params]) {
          new Ajv2020({ strict: false, formats: { 'date-time': true } }).compile(schema)
          count += 1
        }
      }
    }
    return count
  }

  #place(template: string, method: string, status: string): string {
    const escaped = encodeURIComponent(template.replaceAll('~', '~0').replaceAll('/', '~1'))
    const own = `/paths/${escaped}/${method}/responses/${status}`
    const reference = this.#at(own).$ref
    return reference === undefined ? own : reference.slice(1)
  }

  #at(place: string): Answer {
    const steps = place
      .split('/')
      .slice(1)
      .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    return steps.reduce<unknown>(
      (inner, step) => (inner as Record<string, unknown>)[step],
      this.document,
    ) as Answer
  }
}
