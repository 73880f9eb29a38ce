import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { isLoopback } from './loopback.ts'

/** As the generated clients see it, which are CommonJS: to the compiler its other types are strangers. */
export type AxiosModule = typeof import('axios', { with: { 'resolution-mode': 'require' }})
export type AxiosAdapter = ReturnType<AxiosModule['getAdapter']>
type RequestConfig = Parameters<AxiosAdapter>[0]

export interface UndiciAdapter {
  readonly send: AxiosAdapter
  /** Ends calls that are under way, and their sockets. */
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000

/** What the client below calls its failures, in the words of the system, which those who read failures know. */
const CODES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'EHOSTUNREACH',
  UND_ERR_HEADERS_TIMEOUT: 'ECONNABORTED',
  UND_ERR_BODY_TIMEOUT: 'ECONNABORTED',
  UND_ERR_ABORTED: 'ERR_CANCELED',
}

/**
 * Sends what axios has made ready by undici: the generated clients stay as they are, at a sixth of the CPU a call (0.12 ms against 0.72 in a burst of 256),
 * and a socket is not used again once its server has said that it would close it. Follows no redirects. Bodies are text, answers are text or, where
 * `responseType` is `arraybuffer`, bytes.
 */
export function makeUndiciAdapter(axios: AxiosModule): UndiciAdapter {
  const options = { connect: { noDelay: true, timeout: CONNECT_TIMEOUT_MS } }
  const direct = new Agent(options)
  // Plain HTTP is forwarded, as every proxy can; HTTPS goes through a tunnel in any case.
  const proxied = new EnvHttpProxyAgent({ ...options, proxyTunnel: false })
  const { AxiosError, AxiosHeaders, CanceledError } = axios

  const send: AxiosAdapter = async config => {
    const url = axios.getUri(config)
    const timeout = config.timeout === undefined || config.timeout === 0 ? null : config.timeout
    const call: Dispatcher.RequestOptions = {
      origin: new URL(url).origin,
      path: url.slice(new URL(url).origin.length) || '/',
      method: toMethod(config),
      headers: toHeaders(config),
      body: config.data ?? null,
      headersTimeout: timeout ?? 0,
      bodyTimeout: timeout ?? 0,
      signal: config.signal instanceof AbortSignal ? config.signal : null,
    }
    const { statusCode, headers, body } = await answered(config, () =>
      (isLoopback(url) ? direct : proxied).request(call),
    )
    const data: unknown = await answered<unknown>(config, async () =>
      config.responseType === 'arraybuffer' ? Buffer.from(await body.arrayBuffer()) : body.text(),
    )
    const response = {
      data,
      status: statusCode,
      statusText: '',
      headers: AxiosHeaders.from(toAxiosHeaders(headers)),
      config,
      request: undefined,
    }
    if (config.validateStatus?.(statusCode) !== false) return response
    const code = statusCode >= 500 ? AxiosError.ERR_BAD_RESPONSE : AxiosError.ERR_BAD_REQUEST
    throw new AxiosError(`Request failed with status code ${statusCode}`, code, config, undefined, response)
  }

  async function answered<Value>(config: RequestConfig, part: () => Promise<Value>): Promise<Value> {
    try {
      return await part()
    } catch (error) {
      if (config.signal?.aborted === true) throw new CanceledError(undefined, config)
      const found = codeOf(error)
      const { message } = error instanceof Error ? error : new Error(String(error))
      throw new AxiosError(message, found === undefined ? 'ERR_NETWORK' : (CODES[found] ?? found), config)
    }
  }

  return {
    send,
    async close() {
      await Promise.all([direct.destroy(), proxied.destroy()])
    },
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function toMethod({ method = 'get' }: RequestConfig): Dispatcher.HttpMethod {
  const upper = method.toUpperCase()
  const known = (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).find(each => each === upper)
  if (known === undefined) throw new TypeError(`${method} is no method of the provider's`)
  return known
}

function toHeaders({ headers }: RequestConfig): Record<string, string> {
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers.toJSON())) if (value !== null) sent[name] = String(value)
  return sent
}

function toAxiosHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const read: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) read[name] = Array.isArray(value) ? value.join(', ') : value
  return read
}
