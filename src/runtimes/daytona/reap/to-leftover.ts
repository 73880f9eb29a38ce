import type { SandboxListItem, WarmPool } from '@daytona/api-client'
import { readLabels } from '../labels.ts'
import type { Leftover } from './leftover.ts'

/** States in which a sandbox takes disk alone. */
const AT_REST: ReadonlySet<string> = new Set(['stopped', 'archived', 'error', 'build_failed'])

export function toLeftover(
  kind: 'sandbox' | 'pool-member' | 'pool-anchor',
  { id, name, labels, target, state, cpu, memory, disk, createdAt }: SandboxListItem,
  standing: Leftover['standing'],
  pool?: string,
): Leftover {
  const atRest = AT_REST.has(state ?? '')
  return {
    kind,
    id,
    name,
    ...toOrigin(labels),
    standing,
    ...toTime(createdAt),
    region: target,
    ...(pool === undefined ? {} : { pool }),
    cpu: atRest ? 0 : cpu,
    memory: atRest ? 0 : memory,
    disk,
  }
}

/** `labels` are those of the anchor that says whose it is. */
export function toPoolLeftover(
  { id, snapshot, target, createdAt }: WarmPool,
  labels: SandboxListItem['labels'],
  standing: Leftover['standing'],
): Leftover {
  return {
    kind: 'pool',
    id,
    name: snapshot,
    ...toOrigin(labels),
    standing,
    ...toTime(createdAt),
    region: target,
    cpu: 0,
    memory: 0,
    disk: 0,
  }
}

function toOrigin(labels: SandboxListItem['labels']): Pick<Leftover, 'job' | 'owner'> {
  const { job, owner } = readLabels(labels)
  return { ...(job === undefined ? {} : { job }), ...(owner === undefined ? {} : { owner }) }
}

function toTime(text: string | undefined): Pick<Leftover, 'createdAt'> {
  const createdAt = Date.parse(text ?? '')
  return Number.isNaN(createdAt) ? {} : { createdAt }
}
