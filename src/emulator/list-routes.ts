import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { parse } from './parse-body.ts'
import { type SandboxRecord, toDto } from './sandbox.ts'
import type { Site } from './site.ts'

const many = z
  .union([z.string(), z.array(z.string())])
  .transform(value => (Array.isArray(value) ? value : value.split(',')))
const query = z.object({
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(100),
  id: z.string().optional(),
  name: z.string().optional(),
  labels: z.string().optional(),
  states: many.optional(),
  snapshots: many.optional(),
  regionIds: many.optional(),
  includeWarm: z.stringbool().default(false),
})

const labelsQuery = z.record(z.string(), z.string())

type Query = z.infer<typeof query>

/** Pages of sandboxes, the oldest first; unclaimed members of pools only with `includeWarm`. */
export function addListRoute(app: FastifyInstance, { context, sandboxes, organizationId, origin }: Site): void {
  app.get('/api/sandbox', async request => {
    const wanted = parse(query, request.query)
    const labels = parseLabels(wanted.labels)
    await context.latency.take('call')
    const all = [...sandboxes.records.values()].filter(record => matches(record, wanted, labels))
    const from = toPlace(wanted.cursor, all)
    const page = all.slice(from, from + wanted.limit)
    const last = page.at(-1)
    return {
      items: page.map(record => toDto(record, organizationId, `${origin()}/toolbox`)),
      nextCursor: last !== undefined && from + page.length < all.length ? toCursor(last) : null,
    }
  })
}

function matches(record: SandboxRecord, wanted: Query, labels: Readonly<Record<string, string>>): boolean {
  return (
    (wanted.includeWarm || record.warmPoolId === undefined) &&
    (wanted.id === undefined || record.id.startsWith(wanted.id)) &&
    (wanted.name === undefined || record.name.startsWith(wanted.name)) &&
    (wanted.states?.includes(record.state) ?? true) &&
    (wanted.snapshots?.includes(record.snapshot) ?? true) &&
    (wanted.regionIds?.includes(record.target) ?? true) &&
    Object.entries(labels).every(([key, value]) => record.labels[key] === value)
  )
}

function parseLabels(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {}
  try {
    return parse(labelsQuery, JSON.parse(text))
  } catch {
    throw refused(400, 'labels: write a JSON object of strings')
  }
}

/** Names the last one that was given, so that what was deleted meanwhile shifts nothing. */
const toCursor = ({ createdAt, id }: SandboxRecord): string => Buffer.from(`${createdAt} ${id}`).toString('base64url')

function toPlace(cursor: string | undefined, all: readonly SandboxRecord[]): number {
  if (cursor === undefined) return 0
  const [time, id] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  if (!Number.isFinite(Number(time)) || id === undefined) throw refused(400, 'cursor: not one of ours')
  const exact = all.findIndex(record => record.id === id)
  if (exact !== -1) return exact + 1
  const next = all.findIndex(record => record.createdAt > Number(time))
  return next === -1 ? all.length : next
}
