import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import type { Clock } from '../clock.ts'
import { TroupeError, toErrorData } from '../errors.ts'
import { makeFeedStreams } from '../feed/streams.ts'
import { hide } from '../redact.ts'
import {
  dashboardNotServed,
  dashboardPortTaken,
  dashboardTokenWanted,
  noSuchRoute,
  notYet,
  onlyRead,
  STATUS,
} from './errors.ts'
import { makeGuard } from './guard.ts'
import type { Ladders } from './ladders.ts'
import { LADDER_POLICY, PAGE_POLICY, readPageFile } from './page-files.ts'
import { type Refused, ROUTES } from './routes.ts'
import { toRunReply } from './run-reply.ts'
import type { DashboardSource } from './source.ts'

export interface DashboardServerOptions {
  readonly host: string
  /** 0 for one that is free. */
  readonly port: number
  /** Wanted of everybody, wherever it listens. */
  readonly token?: string
  readonly ladders: Ladders
  readonly clock: Clock
  /** Feeds read at a time. Default 32. */
  readonly mostReaders?: number
}

/** A dashboard's server. Nothing that it answers changes anything. */
export interface DashboardServer {
  /** What to open; with the token, where one is wanted. */
  readonly url: string
  /** From now on this is shown. Before, the page waits. */
  show(source: DashboardSource): void
  /** Ends the streams, and the server with every connection. Twice is once. */
  close(): Promise<void>
}

const REQUEST_MS = 10_000
const MOST_CONNECTIONS = 128
/** For what was told last to leave. */
const CLOSE_MS = 1_000

/** Rejects with `dashboard-port-taken` or `dashboard-not-served`. */
export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  const { clock, ladders, token } = options
  const streams = makeFeedStreams(clock, options.mostReaders)
  let shown: DashboardSource | undefined
  const source = (): DashboardSource => {
    if (shown === undefined) throw notYet()
    return shown
  }
  const app = makeApp()
  const guard = makeGuard(token)

  app.addHook('onRequest', async (request, reply) => {
    for (const [name, value] of Object.entries(HEADERS)) reply.raw.setHeader(name, value)
    if (request.method !== 'GET') throw onlyRead(request.method)
    const path = pathOf(request.url)
    if (path.startsWith('/enter/')) return
    const refused = guard.refuse(request.headers, path)
    if (refused !== undefined) throw refused
  })
  app.get<{ Params: { token: string } }>('/enter/:token', async (request, reply) => {
    const cookie = guard.enter(request.params.token)
    if (cookie === undefined) throw dashboardTokenWanted()
    return reply.header('Set-Cookie', cookie).redirect('/', 303)
  })
  app.get<{ Querystring: { job?: string } }>(ROUTES.feed, async (request, reply) => {
    const { job } = request.query
    const feed = await source().feed(typeof job === 'string' && job !== '' ? job : undefined)
    streams.open(feed, reply.raw)
    reply.hijack()
  })
  app.get<{ Params: { runId: string } }>(ROUTES.run, async request => {
    const run = await source().findRun(request.params.runId)
    return toRunReply(run, await source().tokenizer(run))
  })
  app.get(ROUTES.jobs, () => source().jobs())
  app.get(ROUTES.ladders, () => ladders.list())
  app.get<{ Params: { name: string } }>(ROUTES.ladder, async (request, reply) =>
    sendPage(reply, LADDER_POLICY, { type: 'text/html; charset=utf-8', body: await ladders.page(request.params.name) }),
  )
  for (const route of ['/', '/page/*', '/lib/*'])
    app.get(route, async (request, reply) => sendPage(reply, PAGE_POLICY, await readPageFile(pathOf(request.url))))

  const origin = await listen(app, options)
  let closing: Promise<void> | undefined
  return {
    url: token === undefined ? `${origin}/` : `${origin}/enter/${encodeURIComponent(token)}`,
    show(next) {
      shown = next
    },
    close() {
      closing ??= (async () => {
        await streams.close(CLOSE_MS)
        app.server.closeAllConnections()
        await app.close()
      })()
      return closing
    },
  }
}

const HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

function makeApp(): FastifyInstance {
  const app = fastify({
    requestTimeout: REQUEST_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 1_100 },
  })
  app.server.maxConnections = MOST_CONNECTIONS
  app.setNotFoundHandler(({ url }) => {
    throw noSuchRoute(pathOf(url))
  })
  app.setErrorHandler(async (thrown, _request, reply) => {
    const { tag, message } = toErrorData(thrown)
    // What fastify itself refuses has its status with it; all else is a failure of ours.
    const own = thrown instanceof TroupeError ? STATUS[tag] : statusOf(thrown)
    const body: Refused = { error: { tag, message: hide(message) } }
    return reply
      .code(own ?? 500)
      .type('application/json; charset=utf-8')
      .send(body)
  })
  return app
}

function statusOf(thrown: unknown): number | undefined {
  const told = typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown ? thrown.statusCode : undefined
  return typeof told === 'number' ? told : undefined
}

function sendPage(
  reply: FastifyReply,
  policy: string,
  { type, body }: { readonly type: string; readonly body: string | Buffer },
): FastifyReply {
  return reply.header('Content-Security-Policy', policy).type(type).send(body)
}

function pathOf(url: string): string {
  return url.split('?')[0] ?? url
}

async function listen(app: FastifyInstance, { host, port }: DashboardServerOptions): Promise<string> {
  const format = (number: number) => (host.includes(':') ? `[${host}]:${number}` : `${host}:${number}`)
  try {
    await app.listen({ host, port })
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw isTaken ? dashboardPortTaken(format(port), error) : dashboardNotServed(format(port), error)
  }
  const bound = app.server.address()
  return `http://${format(typeof bound === 'object' && bound !== null ? bound.port : port)}`
}
