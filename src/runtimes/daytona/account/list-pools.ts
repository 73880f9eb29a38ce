import type { WarmPool } from '@daytona/api-client'
import type { Account } from './account.ts'
import { callPatiently } from './patience.ts'

/** The provider's own pools of the account, whoever made them. Rejects as `callPatiently` does. */
export function listPools(account: Account): Promise<readonly WarmPool[]> {
  return callPatiently(account, 'list the pools', () => account.warmPools.listWarmPools(), { idempotent: true })
}
