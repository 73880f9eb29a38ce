import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { FAULT_KINDS } from './faults.ts'
import { parse } from './parse-body.ts'
import type { Site } from './site.ts'

const fault = z.object({
  kind: z.enum(FAULT_KINDS),
  share: z.number().min(0).max(1).default(0),
  next: z.number().int().min(0).default(0),
})

/** The emulator's own: what no provider has. Every sandbox that exists is counted, whatever listings leave out. */
export function addControlRoutes(app: FastifyInstance, { context, sandboxes, pools, snapshots }: Site): void {
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
    }
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
