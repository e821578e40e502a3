/** What a request to a broker may say. `json` is sent as it is when it is text. */
export interface Call {
  readonly token?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** An answer, read whole; `body` is undefined when there was none. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // Tests look into answers freely; each assertion says what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer under test
  readonly body: any
}

/** A way to call a broker at `url`. */
export type Caller = (route: string, call?: Call) => Promise<Reply>

/** Calls `METHOD /path` of the broker at `url` over real HTTP. */
export function callerOf(url: string): Caller {
  return async (route, { token, json, headers = {}, signal } = {}) => {
    const [method = 'GET', path = '/'] = route.split(/ (.*)/s)
    const answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(json !== undefined && { body: typeof json === 'string' ? json : JSON.stringify(json) }),
      ...(signal && { signal }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type') === 'application/json'
    const content: unknown = isJson && text !== '' ? JSON.parse(text) : text
    const body = content === '' ? undefined : content
    return { status: answer.status, headers: answer.headers, body }
  }
}
