import type { RegionUsageOverview } from '@daytona/api-client'
import { TroupeError } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { ProvisionPlan } from '../../runtime.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import type { ReadySnapshot } from './ensure.ts'
import { quotaTooSmall, quotaUnknown, type Shortage, sandboxTooLarge } from './errors.ts'

/** The tags of answers that mean: this key may not know. */
const UNTOLD: ReadonlySet<string> = new Set(['daytona-forbidden', 'daytona-not-found', 'daytona-not-implemented'])
const told = new WeakSet<Account>()

/**
 * Rejects with `quota-too-small` where the account cannot hold the planned sandboxes of the snapshot's resources beside what it has in use now, or not
 * one of that size. Where the provider does not tell, nothing is claimed: that is published once, and it resolves.
 */
export async function checkQuota(account: Account, snapshot: ReadySnapshot, plan: ProvisionPlan): Promise<void> {
  const rows = await readUsage(account, snapshot)
  if (rows.length === 0) return
  // A pool of the provider's is held by one sandbox more, which says whose it is.
  const anchors = plan.providerPool ? 1 : 0
  const verdicts = rows.map(row => judge(row, snapshot.resources, plan.sandboxes + anchors))
  // Where the region is the account's choice, one that is large enough will do.
  if (verdicts.some(({ refusal }) => refusal === undefined)) return
  const best = verdicts.toSorted((one, other) => other.fits - one.fits)[0]
  if (best?.refusal !== undefined) throw best.refusal
}

async function readUsage(account: Account, snapshot: ReadySnapshot): Promise<readonly RegionUsageOverview[]> {
  const { organizationId: id } = snapshot
  if (id === undefined) return []
  try {
    const { regionUsage } = await callDaytona('read what the account has in use', () =>
      account.organizations.getOrganizationUsageOverview(id),
    )
    return regionUsage.filter(({ regionId, sandboxClass }) => {
      if (sandboxClass !== undefined && sandboxClass !== 'container') return false
      if (account.region !== undefined) return regionId === account.region
      return snapshot.regions.length === 0 || snapshot.regions.includes(regionId)
    })
  } catch (error) {
    if (!(error instanceof TroupeError) || !UNTOLD.has(error.tag)) throw error
    if (!told.has(account)) publish('sandbox', quotaUnknown(error.data))
    told.add(account)
    return []
  }
}

interface Verdict {
  /** How many there is room for. */
  readonly fits: number
  readonly refusal: TroupeError | undefined
}

function judge(row: RegionUsageOverview, resources: ReadySnapshot['resources'], sandboxes: number): Verdict {
  const limits = toLimits(row, resources)
  const tooLarge = limits
    .filter(({ most, each }) => most !== null && each > most)
    .map(({ resource, each, most }) => ({ resource, wanted: each, total: most ?? 0 }))
  if (tooLarge.length > 0) return { fits: -1, refusal: sandboxTooLarge(row.regionId, tooLarge) }
  const fits = Math.min(...limits.filter(({ each }) => each > 0).map(({ free, each }) => Math.floor(free / each)))
  if (fits >= sandboxes) return { fits, refusal: undefined }
  const shortages: readonly Shortage[] = limits
    .map(({ resource, each, free, total }) => ({ resource, wanted: each * sandboxes, free, total }))
    .filter(({ wanted, free }) => wanted > free)
  return { fits, refusal: quotaTooSmall(row.regionId, sandboxes, fits, shortages) }
}

function toLimits(row: RegionUsageOverview, { cpu, memory, disk }: ReadySnapshot['resources']) {
  const limit = (
    resource: Shortage['resource'],
    each: number,
    total: number,
    current: number,
    // Absent from answers of older releases.
    most: number | null | undefined,
  ) => ({ resource, each, total, free: Math.max(0, total - current), most: most ?? null })
  return [
    limit('cpu', cpu, row.totalCpuQuota, row.currentCpuUsage, row.maxCpuPerSandbox),
    limit('memory', memory, row.totalMemoryQuota, row.currentMemoryUsage, row.maxMemoryPerSandbox),
    limit('disk', disk, row.totalDiskQuota, row.currentDiskUsage, row.maxDiskPerSandbox),
  ]
}
