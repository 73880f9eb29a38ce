import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { parse } from './parse-body.ts'
import { DEFAULT_RESOURCES } from './sandbox.ts'
import type { Site } from './site.ts'
import { type Snapshot, toSnapshotDto } from './snapshots.ts'
import { ACCESS_KEY, BUCKET } from './storage.ts'

const createBody = z.object({
  name: z.string().min(1),
  imageName: z.string().optional(),
  entrypoint: z.array(z.string()).optional(),
  cpu: z.number().int().positive().default(DEFAULT_RESOURCES.cpu),
  memory: z.number().int().positive().default(DEFAULT_RESOURCES.memory),
  disk: z.number().int().positive().default(DEFAULT_RESOURCES.disk),
  regionId: z.string().optional(),
  buildInfo: z.object({ dockerfileContent: z.string(), contextHashes: z.array(z.string()).default([]) }).optional(),
})
const page = z.object({
  name: z.string().default(''),
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).default(100),
})

/** Snapshots with their builds and logs, and where contexts are pushed to. */
export function addSnapshotRoutes(app: FastifyInstance, site: Site): void {
  const { context, snapshots, organizationId } = site
  const { latency, regions } = context
  const dto = (snapshot: Snapshot) => toSnapshotDto(snapshot, organizationId)

  app.get('/api/object-storage/push-access', async () => {
    await latency.take('call')
    return {
      accessKey: ACCESS_KEY,
      secret: 'emulator',
      sessionToken: 'emulator',
      storageUrl: `${site.origin()}/storage`,
      organizationId,
      bucket: BUCKET,
      region: 'us-east-1',
    }
  })

  app.post('/api/snapshots', async ({ body }) => {
    const { cpu, memory, disk, regionId = regions[0] ?? '', ...wanted } = parse(createBody, body)
    if (wanted.imageName === undefined && wanted.buildInfo === undefined)
      throw refused(400, 'Must specify either an image name or build info')
    if (!regions.includes(regionId)) throw refused(403, `Region ${regionId} is not available to this organization`)
    await latency.take('call')
    return dto(snapshots.create({ ...wanted, regionId, resources: { cpu, memory, disk } }))
  })

  app.get('/api/snapshots', async ({ query }) => {
    const { page: number, limit, name } = parse(page, query)
    await latency.take('call')
    const all = snapshots.list().filter(snapshot => snapshot.name.toLowerCase().includes(name.toLowerCase()))
    const items = all.slice((number - 1) * limit, number * limit).map(dto)
    return { items, total: all.length, page: number, totalPages: Math.max(1, Math.ceil(all.length / limit)) }
  })

  // Names may hold slashes, which clients escape.
  app.get<{ Params: { id: string } }>('/api/snapshots/:id', async ({ params }) => {
    await latency.take('call')
    return dto(snapshots.find(params.id))
  })

  app.delete<{ Params: { id: string } }>('/api/snapshots/:id', async ({ params }, reply) => {
    await latency.take('call')
    const snapshot = snapshots.list().find(({ id }) => id === params.id)
    if (snapshot === undefined) throw refused(404, `Snapshot with ID ${params.id} not found`)
    snapshots.remove(snapshot)
    return reply.code(200).send()
  })

  app.get<{ Params: { id: string } }>('/api/snapshots/:id/build-logs-url', async ({ params }) => ({
    url: `${site.origin()}/api/snapshots/${snapshots.find(params.id).id}/build-logs`,
  }))

  app.get<{ Params: { id: string } }>('/api/snapshots/:id/build-logs', async ({ params, query }, reply) => {
    const { follow } = parse(z.object({ follow: z.stringbool().default(false) }), query)
    const snapshot = snapshots.find(params.id)
    return reply
      .type('text/plain')
      .send(Readable.from(readLog(snapshot, follow, context.signal), { objectMode: false }))
  })
}

async function* readLog(snapshot: Snapshot, follow: boolean, signal: AbortSignal): AsyncGenerator<string> {
  let told = 0
  while (!signal.aborted) {
    for (; told < snapshot.log.length; told += 1) yield snapshot.log[told] ?? ''
    if (!follow || (snapshot.state !== 'pending' && snapshot.state !== 'building')) return
    await nextLine(snapshot, signal)
  }
}

function nextLine(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const wake = () => {
      snapshot.followers.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    snapshot.followers.add(wake)
    signal.addEventListener('abort', wake)
  })
}
