import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { parse } from './parse-body.ts'
import type { Site } from './site.ts'

const grantQuery = z.object({ expiresInMinutes: z.coerce.number().positive().default(60) })
const revokeQuery = z.object({ token: z.string().optional() })
const validateQuery = z.object({ token: z.string() })
const signedQuery = z.object({ expiresInSeconds: z.coerce.number().positive().default(60) })
const port = z.coerce.number().int().min(1).max(65_535)

/** Ways into a sandbox: tokens for the SSH gateway, addresses of the preview proxy. */
export function addAccessRoutes(app: FastifyInstance, site: Site): void {
  const { context, sandboxes, access } = site
  const { latency, timelines } = context

  app.post<{ Params: { id: string } }>('/api/sandbox/:id/ssh-access', async ({ params, query }) => {
    const { expiresInMinutes } = parse(grantQuery, query)
    const record = sandboxes.find(params.id)
    await timelines.time(record.id, 'sshAccess', latency.take('sshAccess'))
    const granted = access.grant(record.id, expiresInMinutes)
    const createdAt = new Date(granted.createdAt).toISOString()
    return {
      id: granted.id,
      sandboxId: record.id,
      token: granted.token,
      expiresAt: new Date(granted.expiresAt).toISOString(),
      createdAt,
      updatedAt: createdAt,
      sshCommand: `ssh -p ${site.sshPort()} ${granted.token}@127.0.0.1`,
    }
  })

  app.delete<{ Params: { id: string } }>('/api/sandbox/:id/ssh-access', async ({ params, query }) => {
    const { token } = parse(revokeQuery, query)
    const record = sandboxes.find(params.id)
    await latency.take('call')
    access.revoke(record.id, token)
    return { id: record.id }
  })

  app.get('/api/sandbox/ssh-access/validate', async ({ query }) => {
    const found = access.find(parse(validateQuery, query).token)
    return { valid: found !== undefined, sandboxId: found?.sandboxId ?? '' }
  })

  type Port = { Params: { id: string; port: string } }
  app.get<Port>('/api/sandbox/:id/ports/:port/preview-url', async ({ params }) => {
    const record = sandboxes.find(params.id)
    await timelines.time(record.id, 'preview', latency.take('call'))
    const url = `${site.origin()}/preview/${record.id}/${parse(port, params.port)}`
    return { sandboxId: record.id, url, token: record.previewToken }
  })

  app.get<Port>('/api/sandbox/:id/ports/:port/signed-preview-url', async ({ params, query }) => {
    const { expiresInSeconds } = parse(signedQuery, query)
    const record = sandboxes.find(params.id)
    const given = parse(port, params.port)
    await timelines.time(record.id, 'preview', latency.take('call'))
    const token = access.sign(record.id, given, expiresInSeconds)
    return { sandboxId: record.id, port: given, token, url: `${site.origin()}/preview/${token}/${given}` }
  })

  app.post<{ Params: { token: string } }>(
    '/api/sandbox/:id/ports/:port/signed-preview-url/:token/expire',
    async ({ params }, reply) => {
      access.expire(params.token)
      return reply.code(204).send()
    },
  )
}
