import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type ModelEndpoint, oneServer } from '../../src/models/endpoint.ts'
import { FakeModel } from './training-service/fake-model.ts'
import { refuse, WireRefusal } from './training-service/wire-refusal.ts'

/** What goes wrong with a request instead of its being answered. */
export type Fault =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
      /** The request is acted on all the same, as when a proxy in between gave up. */
      readonly acted?: boolean
    }
  /** Reads the whole request, then hangs up without a word. */
  | { readonly type: 'close' }
  /** Hangs up when the head of the request has come. */
  | { readonly type: 'close-early' }
  /** Reads the whole request and never answers. */
  | { readonly type: 'silence' }

/** One request that arrived whole. */
export interface Delivered {
  readonly method: string
  readonly path: string
  /** The last part of its path: `forward-backward`, `optim-step`, … */
  readonly route: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: number
  readonly body: unknown
}

export interface FakeTrainingServiceOptions {
  /** Slugs. Default `calc-model`. */
  readonly models?: readonly string[]
  /** When given, every request must carry it. */
  readonly key?: string
  /** Bodies over it are answered 413 before they are read. */
  readonly maxBodyBytes?: number
  /** Without it, `resolve` is no route, as on services that only list. Default true. */
  readonly resolves?: boolean
}

export interface FakeTrainingService {
  readonly url: string
  readonly endpoint: ModelEndpoint
  /** Every request that arrived whole, in order. */
  readonly deliveries: readonly Delivered[]
  /** How many of them were for this route. */
  count(route: string): number
  model(slug?: string): FakeModel
  /** The next request for `route` meets `fault`; called again, the one after it. */
  failNext(route: string, fault: Fault): void
  /** Connections that are open now. */
  readonly connections: number
  close(): Promise<void>
}

/** HUD's training service and catalogue on loopback: its routes, fields and strictness, without a model behind them. */
export async function startFakeTrainingService(options: FakeTrainingServiceOptions = {}): Promise<FakeTrainingService> {
  const { models: slugs = ['calc-model'], key, maxBodyBytes = Number.POSITIVE_INFINITY, resolves = true } = options
  const models: FakeModel[] = slugs.map(slug => new FakeModel(randomUUID(), slug))
  const deliveries: Delivered[] = []
  const faults = new Map<string, Fault[]>()
  const sockets = new Set<Socket>()

  const find = (id: string): FakeModel =>
    models.find(model => model.id === id) ?? refuse(404, `there is no model ${id}`)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
    const route = pathname.slice(pathname.lastIndexOf('/') + 1)
    const fault = faults.get(route)?.shift()
    if (fault?.type === 'close-early') return void request.socket.destroy()
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      return replyEarly(request, response, 413, { detail: 'Request Entity Too Large' })
    }
    const text = await readText(request)
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const method = request.method ?? ''
    deliveries.push({ method, path: pathname, route, headers: request.headers, bytes: Buffer.byteLength(text), body })
    if (fault?.type === 'close') return void request.socket.destroy()
    if (fault?.type === 'silence') return
    if (fault?.type === 'answer') {
      if (fault.acted === true) act(method, pathname, searchParams, body)
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      return
    }
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) refuse(401, 'invalid API key')
    reply(response, 200, act(method, pathname, searchParams, body))
  }

  function act(method: string, path: string, query: URLSearchParams, body: unknown): unknown {
    const training = /^\/v1\/models\/([^/]+)\/train\/([a-z-]+)$/.exec(path)
    if (training !== null) return find(training[1] ?? '').train(method, training[2] ?? '', body)
    if (method === 'GET' && path === '/v2/models') return list(query)
    if (method === 'GET' && path === '/v2/models/resolve' && resolves) return resolve(query.get('model') ?? '')
    if (method === 'POST' && path === '/v2/models/fork') return fork(body)
    const [, id = '', what] = /^\/v2\/models\/([^/]+)\/([a-z]+)$/.exec(path) ?? []
    if (method === 'GET' && what === 'checkpoints') return find(id).checkpoints
    if (method === 'PUT' && what === 'head') return find(id).setHead(body)
    return refuse(404, 'Not Found')
  }

  function list(query: URLSearchParams): unknown {
    const offset = Number(query.get('offset') ?? 0)
    const items = models.slice(offset, offset + Number(query.get('limit') ?? 20)).map(model => model.entry())
    return { items, total: models.length }
  }

  function resolve(slug: string): unknown {
    const found = models.find(model => model.slug === slug)
    return found === undefined ? refuse(404, `there is no model ${slug}`) : { id: found.id }
  }

  function fork(body: unknown): unknown {
    const { source_model_id: source, name } = body as { source_model_id: string; name: string }
    if (models.some(model => model.slug === name)) refuse(409, `there is a model ${name} already`)
    const forked = find(source).fork(randomUUID(), name)
    models.push(forked)
    return forked.entry()
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const status = error instanceof WireRefusal ? error.status : 500
      if (!response.headersSent && !response.destroyed)
        reply(response, status, { detail: error instanceof Error ? error.message : String(error) })
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const url = await listen(server)
  return {
    url,
    endpoint: oneServer(url),
    deliveries,
    count: route => deliveries.filter(delivered => delivered.route === route).length,
    model: (slug = slugs[0] ?? '') =>
      models.find(model => model.slug === slug) ?? refuse(404, `there is no model ${slug}`),
    failNext: (route, fault) => void faults.set(route, [...(faults.get(route) ?? []), fault]),
    get connections() {
      return sockets.size
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Answers before the request has been read, and reads on, so that the answer is not lost with a connection that is reset. */
function replyEarly(request: IncomingMessage, response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.write(text)
  request.once('end', () => response.end())
  request.resume()
}
