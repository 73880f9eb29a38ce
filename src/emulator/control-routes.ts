import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { FAULT_KINDS } from './faults.ts'
import { parse } from './parse-body.ts'
import type { Site } from './site.ts'
import type { CallCounts } from './throttle.ts'

const fault = z.object({
  kind: z.enum(FAULT_KINDS),
  share: z.number().min(0).max(1).default(0),
  next: z.number().int().min(0).default(0),
})

const timelineQuery = z.object({
  sandbox: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(20_000).default(1_000),
})

/** The emulator's own: what no provider has. Every sandbox that exists is counted, whatever listings leave out. */
export function addControlRoutes(
  app: FastifyInstance,
  { context, sandboxes, pools, snapshots }: Site,
  calls: CallCounts,
): void {
  const { faults } = context

  app.get('/emulator/state', async () => {
    const states: Record<string, number> = {}
    for (const { state } of sandboxes.records.values()) states[state] = (states[state] ?? 0) + 1
    return {
      ...sandboxes.counts,
      existing: sandboxes.records.size,
      unclaimed: [...sandboxes.records.values()].filter(({ warmPoolId }) => warmPoolId !== undefined).length,
      states,
      pools: pools.pools.size,
      snapshots: snapshots.list().length,
      struck: faults.struck,
      calls,
    }
  })

  app.get('/emulator/timeline', async request => {
    const { sandbox, limit } = parse(timelineQuery, request.query)
    if (sandbox === undefined) return { items: context.timelines.newest(limit) }
    const found = context.timelines.of(sandbox)
    if (found === undefined) throw refused(404, `nothing is known of a sandbox ${sandbox}`)
    return found
  })

  app.post('/emulator/faults', async ({ body }) => {
    faults.set(parse(fault, body))
    return {}
  })

  app.delete('/emulator/faults', async () => {
    faults.clear()
    return {}
  })
}
