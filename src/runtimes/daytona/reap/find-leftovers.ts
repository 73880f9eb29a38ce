import type { SandboxListItem } from '@daytona/api-client'
import type { Account } from '../account/account.ts'
import { listPools } from '../account/list-pools.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { patiently } from '../account/patience.ts'
import { isOurName, readLabels } from '../labels.ts'
import { isAnchor } from '../provider-pool/index.ts'
import { findStaleSnapshots, type StaleSnapshot } from '../snapshot/index.ts'
import { findPools } from './find-pools.ts'
import { makeJudge } from './judge.ts'
import { type FindOptions, type Leftover, REAP_KINDS } from './leftover.ts'
import { toLeftover } from './to-leftover.ts'

/** A fork has its name before it has its labels, and then for a moment only. */
const UNLABELLED_MS = 60 * 60_000

/**
 * What owners that are dead have left: sandboxes with our labels, pools that our anchors name, with their unclaimed members, and snapshots that were
 * built here and that nothing uses. Whoever is on another machine counts as dead once the expiry on the label has passed. Nothing without a
 * label of ours is in it, unless `ownerless` asks. Changes nothing; rejects as calls to the provider do.
 */
export async function findLeftovers(account: Account, options: FindOptions = {}): Promise<readonly Leftover[]> {
  const { kinds = REAP_KINDS, olderThanMs = 0, owners = [], hosts = [], job } = options
  const now = account.clock.wallTime()
  const judge = makeJudge(options, now)
  const wants = (kind: (typeof REAP_KINDS)[number]) => kinds.includes(kind)
  // Whoever asks for what some have left does not mean what has no owner, as snapshots.
  const anyOwner = owners.length + hosts.length === 0
  const ownerless = options.ownerless === true && anyOwner
  const withSnapshots = wants('snapshot') && anyOwner
  const [sandboxes, pools, stale] = await Promise.all([
    wants('sandbox') || wants('pool') ? listSandboxes(account) : [],
    wants('pool') ? listPools(account) : [],
    withSnapshots ? patiently(account, () => findStaleSnapshots(account), { idempotent: true }) : [],
  ])
  const isOld = ({ createdAt }: Pick<Leftover, 'createdAt'>) =>
    createdAt === undefined || now - createdAt >= olderThanMs
  return [
    ...(wants('pool') ? findPools({ pools, sandboxes, judge, isOld, ownerless, now }) : []),
    ...(wants('sandbox') ? sandboxes.flatMap(each => ofSandbox(each)) : []).filter(isOld),
    ...stale.map(ofSnapshot).filter(isOld),
  ]

  function ofSandbox(sandbox: SandboxListItem): readonly Leftover[] {
    if (isAnchor(sandbox) || (sandbox.warmPoolId ?? '') !== '') return []
    if (readLabels(sandbox.labels).owner === undefined) return ofUnlabelled(sandbox)
    if (job !== undefined && readLabels(sandbox.labels).job !== job) return []
    const standing = judge(sandbox, false)
    return standing === undefined ? [] : [toLeftover('sandbox', sandbox, standing)]
  }

  function ofUnlabelled(sandbox: SandboxListItem): readonly Leftover[] {
    const found = toLeftover('sandbox', sandbox, 'none')
    return ownerless && isOurName(sandbox.name) && now - (found.createdAt ?? now) > UNLABELLED_MS ? [found] : []
  }
}

function ofSnapshot({ id, name, lastUsedAt }: StaleSnapshot): Leftover {
  return { kind: 'snapshot', id, name, standing: 'unused', createdAt: lastUsedAt, cpu: 0, memory: 0, disk: 0 }
}
