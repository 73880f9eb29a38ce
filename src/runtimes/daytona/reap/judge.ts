import type { SandboxListItem } from '@daytona/api-client'
import { judgeLabels, readLabels } from '../labels.ts'
import { judgeAnchor } from '../provider-pool/index.ts'
import { type FindOptions, type Leftover, toHost } from './leftover.ts'

type Labelled = Pick<SandboxListItem, 'labels' | 'state'>

/** Tells of what has an owner how that one stands; undefined when it must be left alone. */
export type Judge = (
  labelled: Labelled,
  isAnchor: boolean,
) => Exclude<Leftover['standing'], 'none' | 'unused'> | undefined

/** Whoever is seen to be alive is spared, even if named. */
export function makeJudge({ owners = [], hosts = [] }: FindOptions, now: number): Judge {
  const all = owners.length + hosts.length === 0
  return (labelled, isAnchor) => {
    const { owner } = readLabels(labelled.labels)
    if (owner === undefined) return undefined
    const named = owners.includes(owner) || hosts.includes(toHost(owner))
    if (!named && !all) return undefined
    const verdict = isAnchor ? judgeAnchor(labelled, now) : judgeLabels(labelled.labels, now)
    if (verdict === 'alive') return undefined
    if (verdict === 'elsewhere') return named ? 'named' : undefined
    return verdict
  }
}
