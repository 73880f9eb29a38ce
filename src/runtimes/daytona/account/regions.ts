import type { Region } from '@daytona/api-client'
import { hasTag } from '../../../errors.ts'
import type { Account } from './account.ts'
import { callDaytona } from './call.ts'
import { regionUnknown } from './errors.ts'

/** The regions that the account may use. Rejects as `callDaytona` does. */
export function listRegions({ organizations }: Account): Promise<readonly Region[]> {
  return callDaytona('list the regions', () => organizations.listAvailableRegions())
}

/** Rejects with `daytona-region-unknown` where the account's region is none that it may use, or as `callDaytona` does. */
export async function checkRegion(account: Account): Promise<void> {
  const { region } = account
  if (region === undefined) return
  const regions = await listRegions(account).catch(error => {
    // A key that may not list regions may still use them: the first create tells.
    if (hasTag(error, 'daytona-not-found') || hasTag(error, 'daytona-forbidden')) return []
    throw error
  })
  if (regions.length === 0 || regions.some(({ id, name }) => id === region || name === region)) return
  throw regionUnknown(region, toNames(regions))
}

/** A refusal of the account's region, with the regions that it may use; any other error as it is. */
export async function withRegions(account: Account, error: unknown): Promise<unknown> {
  const { region } = account
  if (region === undefined || !hasTag(error, 'daytona-forbidden') || !/region/i.test(error.message)) return error
  const regions = await listRegions(account).catch(() => []) // the refusal itself is told all the same
  return regionUnknown(region, toNames(regions), error)
}

function toNames(regions: readonly Region[]): readonly string[] {
  return regions.map(({ id }) => id)
}
