import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { parse } from './parse-body.ts'
import { type SandboxRecord, toDto } from './sandbox.ts'
import type { NewSandbox } from './sandboxes.ts'
import type { Site } from './site.ts'
import { DEFAULT_SNAPSHOT } from './snapshots.ts'

const minutes = z.number().int()
const createBody = z.object({
  name: z.string().min(1).optional(),
  snapshot: z.string().optional(),
  target: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cpu: z.number().int().positive().optional(),
  memory: z.number().int().positive().optional(),
  disk: z.number().int().positive().optional(),
  autoStopInterval: minutes.min(0).optional(),
  autoDeleteInterval: minutes.optional(),
  ttlMinutes: minutes.min(0).optional(),
  volumes: z.array(z.unknown()).optional(),
  secrets: z.array(z.unknown()).optional(),
  buildInfo: z.unknown().optional(),
})

const forkBody = z.object({ name: z.string().optional() })
const labelsBody = z.object({ labels: z.record(z.string(), z.string()) })

type Params = { Params: { id: string } }

/** Create, look, list, label, start, stop, fork and delete. */
export function addSandboxRoutes(app: FastifyInstance, site: Site): void {
  const { context, sandboxes, pools } = site
  const { latency, timelines, faults } = context
  const dto = (record: SandboxRecord) => toDto(record, site.organizationId, `${site.origin()}/toolbox`)

  app.post('/api/sandbox', async (request, reply) => {
    const { volumes = [], secrets = [], buildInfo, ...body } = parse(createBody, request.body)
    if (buildInfo !== undefined)
      throw refused(400, 'the emulator makes sandboxes from snapshots only: create one with this image first')
    const wanted = toWanted(body, site)
    const claimed = volumes.length + secrets.length === 0 ? pools.claim(wanted) : undefined
    if (claimed !== undefined) {
      await timelines.time(claimed.id, 'claim', latency.take('claim'))
      return breakOff(reply) ?? dto(claimed)
    }
    const record = sandboxes.insert(wanted)
    context.background(sandboxes.bringUp(record))
    await timelines.time(record.id, 'accept', latency.take('accept'))
    return breakOff(reply) ?? dto(record)
  })

  /** The sandbox is there and the answer never comes. */
  function breakOff(reply: FastifyReply): FastifyReply | undefined {
    if (!faults.strikes('reset-create')) return undefined
    reply.hijack()
    reply.raw.socket?.resetAndDestroy()
    return reply
  }

  app.get<Params>('/api/sandbox/:id', async ({ params }) => {
    await latency.take('call')
    return dto(sandboxes.find(params.id))
  })

  app.delete<Params>('/api/sandbox/:id', async ({ params }) => {
    const record = sandboxes.find(params.id)
    await latency.take('call')
    pools.forget(record)
    site.access.forget(record.id)
    context.background(sandboxes.destroy(record))
    return dto(record)
  })

  app.post<Params>('/api/sandbox/:id/start', async ({ params }) => {
    const record = sandboxes.find(params.id)
    await latency.take('call')
    sandboxes.start(record)
    return dto(record)
  })

  app.post<Params>('/api/sandbox/:id/stop', async ({ params }) => {
    const record = sandboxes.find(params.id)
    await latency.take('call')
    sandboxes.stop(record)
    return dto(record)
  })

  app.post<Params>('/api/sandbox/:id/fork', async ({ params, body }, reply) => {
    const { name } = parse(forkBody, body)
    const child = await sandboxes.fork(sandboxes.find(params.id), name)
    return breakOff(reply) ?? dto(child)
  })

  app.put<Params>('/api/sandbox/:id/labels', async ({ params, body }) => {
    const { labels } = parse(labelsBody, body)
    await latency.take('call')
    sandboxes.find(params.id).labels = labels
    return { labels }
  })

  app.post<Params>('/api/sandbox/:id/last-activity', async ({ params }, reply) => {
    sandboxes.find(params.id).lastActivityAt = context.wall.wallTime()
    return reply.code(201).send()
  })

  const settings: Readonly<Record<string, (record: SandboxRecord, minutes: number) => void>> = {
    autostop: (record, given) => {
      record.autoStopInterval = given
    },
    autodelete: (record, given) => {
      record.autoDeleteInterval = given
    },
    ttl: (record, given) => {
      record.destroyAt = sandboxes.toDestroyAt(given)
    },
  }
  for (const [name, set] of Object.entries(settings))
    app.post<{ Params: { id: string; minutes: string } }>(`/api/sandbox/:id/${name}/:minutes`, async ({ params }) => {
      const given = Number(params.minutes)
      if (!Number.isInteger(given)) throw refused(400, `${params.minutes} is no number of minutes`)
      await latency.take('call')
      const record = sandboxes.find(params.id)
      set(record, given)
      return dto(record)
    })

  app.get<Params>('/api/sandbox/:id/toolbox-proxy-url', async ({ params }) => {
    sandboxes.find(params.id)
    return { url: `${site.origin()}/toolbox` }
  })
}

function toWanted(
  body: Omit<z.infer<typeof createBody>, 'volumes' | 'secrets' | 'buildInfo'>,
  { context, snapshots }: Site,
): NewSandbox {
  const target = body.target ?? context.regions[0] ?? ''
  if (!context.regions.includes(target)) throw refused(403, `Region ${target} is not available to this organization`)
  const snapshot = snapshots.usable(body.snapshot ?? DEFAULT_SNAPSHOT, target)
  const { cpu = snapshot.resources.cpu, memory = snapshot.resources.memory, disk = snapshot.resources.disk } = body
  return { ...body, target, snapshot: snapshot.name, resources: { cpu, memory, disk } }
}
