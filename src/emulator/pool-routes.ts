import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { parse } from './parse-body.ts'
import type { Site } from './site.ts'
import { toPoolDto } from './warm-pools.ts'

const size = z.number().int().min(0)
type Params = { Params: { id: string } }

export function addPoolRoutes(app: FastifyInstance, { context, pools, snapshots, organizationId }: Site): void {
  const { latency, regions } = context

  app.get('/api/warm-pools', async () => {
    await latency.take('call')
    return [...pools.pools.values()].map(pool => toPoolDto(pool, organizationId))
  })

  app.post('/api/warm-pools', async ({ body }) => {
    const schema = z.object({ snapshot: z.string(), pool: size, target: z.string().optional() })
    const { snapshot, pool, target = regions[0] ?? '' } = parse(schema, body)
    if (!regions.includes(target)) throw refused(403, `Region ${target} is not available to this organization`)
    await latency.take('call')
    const { name, resources } = snapshots.usable(snapshot, target)
    return toPoolDto(pools.create({ snapshot: name, target, pool, resources }), organizationId)
  })

  app.patch<Params>('/api/warm-pools/:id', async ({ params, body }) => {
    const { pool: wanted } = parse(z.object({ pool: size }), body)
    await latency.take('call')
    const pool = pools.find(params.id)
    pools.resize(pool, wanted)
    return toPoolDto(pool, organizationId)
  })

  app.delete<Params>('/api/warm-pools/:id', async ({ params }, reply) => {
    await latency.take('call')
    pools.remove(pools.find(params.id))
    return reply.code(204).send()
  })
}
