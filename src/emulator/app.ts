import { createServer } from 'node:http'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { addAccessRoutes } from './access-routes.ts'
import { addControlRoutes } from './control-routes.ts'
import { refused, toErrorName, toStatus } from './errors.ts'
import { addFileRoutes } from './file-routes.ts'
import { addListRoute } from './list-routes.ts'
import { addOrganizationRoutes } from './organization-routes.ts'
import { addPoolRoutes } from './pool-routes.ts'
import { PREVIEW_PREFIX, type Preview } from './preview.ts'
import { addSandboxRoutes } from './sandbox-routes.ts'
import type { Site } from './site.ts'
import { addSnapshotRoutes } from './snapshot-routes.ts'
import { addStorageRoutes } from './storage.ts'
import { type makeThrottle, type RateLimits, retryAfter, type ThrottlerName } from './throttle.ts'
import { addToolboxRoutes } from './toolbox-routes.ts'

export interface AppOptions {
  readonly site: Site
  readonly apiKey: string
  readonly throttle: ReturnType<typeof makeThrottle>
  readonly limits: RateLimits
  readonly preview: Preview
}

const BODY_LIMIT_BYTES = 512 * 1024 * 1024

/** The HTTP server with all its routes, not yet listening. */
export function makeApp({ site, apiKey, throttle, limits, preview }: AppOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 512 },
    // What is for the preview proxy goes past the framework, which would read the bodies.
    serverFactory: handle =>
      createServer({ noDelay: true }, (request, response) =>
        request.url?.startsWith(PREVIEW_PREFIX) === true
          ? preview.handle(request, response)
          : handle(request, response),
      ),
  })
  for (const type of ['multipart/form-data', 'application/octet-stream', 'application/x-tar', '*'])
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  // A JSON body may be left out, also where its type is named.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch {
      done(refused(400, 'the body is no JSON'))
    }
  })

  app.addHook('onRequest', async (request, reply) => {
    const { url } = request
    if (!/^\/(api|toolbox|emulator)\//.test(url)) return
    if (request.headers.authorization !== `Bearer ${apiKey}`) throw refused(401, 'Invalid credentials')
    if (url.startsWith('/api/')) admit(request, reply)
    else if (url.startsWith('/toolbox/') && site.context.faults.strikes('toolbox-error'))
      throw refused(502, 'Bad gateway')
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const { method, url } = request
    const isOther = /^\/(api|toolbox)\//.test(url) && !isCreate(method, pathOf(url))
    if (isOther && site.context.faults.strikes('reset')) reply.raw.socket?.resetAndDestroy()
    return payload
  })

  function admit(request: FastifyRequest, reply: FastifyReply): void {
    const { faults, random } = site.context
    const names = throttlersOf(request)
    for (const name of names) {
      const { admitted, headers } = throttle.admit(name)
      reply.headers(headers)
      if (!admitted) throw refused(429, 'ThrottlerException: Too Many Requests')
    }
    const name = names.at(-1) ?? 'authenticated'
    if (faults.strikes('too-many-requests')) {
      reply.headers({ [`x-ratelimit-remaining-${name}`]: '0', ...retryAfter(name, 1) })
      throw refused(429, 'ThrottlerException: Too Many Requests')
    }
    if (faults.strikes('server-error'))
      throw refused([500, 502, 503][Math.floor(random() * 3)] ?? 500, 'Internal server error')
  }

  app.setErrorHandler(async (thrown, request, reply) => {
    const statusCode = toStatus(thrown)
    if (statusCode === 502) return reply.code(502).type('text/html').send('<html><body>502 Bad Gateway</body></html>')
    return reply.code(statusCode).send({
      path: request.url,
      timestamp: new Date(site.context.wall.wallTime()).toISOString(),
      statusCode,
      error: toErrorName(statusCode),
      message: thrown instanceof Error ? thrown.message : String(thrown),
    })
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw refused(404, `Cannot ${method} ${url}`)
  })

  addSandboxRoutes(app, site)
  addListRoute(app, site)
  addAccessRoutes(app, site)
  addSnapshotRoutes(app, site)
  addPoolRoutes(app, site)
  addOrganizationRoutes(app, site, limits)
  addToolboxRoutes(app, site)
  addFileRoutes(app, site)
  addControlRoutes(app, site, throttle.counts)
  addStorageRoutes(app, site.storage)
  return app
}

function throttlersOf({ method, url }: FastifyRequest): readonly ThrottlerName[] {
  const path = pathOf(url)
  if (isCreate(method, path)) return ['authenticated', 'sandbox-create']
  const lifecycle =
    (method === 'DELETE' && /^\/api\/sandbox\/[^/]+$/.test(path)) ||
    (method === 'POST' && /^\/api\/sandbox\/[^/]+\/(start|stop)$/.test(path))
  return lifecycle ? ['authenticated', 'sandbox-lifecycle'] : ['authenticated']
}

const pathOf = (url: string): string => url.split('?')[0] ?? ''

const isCreate = (method: string, path: string): boolean =>
  method === 'POST' && (path === '/api/sandbox' || /^\/api\/sandbox\/[^/]+\/fork$/.test(path))
