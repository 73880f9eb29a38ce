import type { SandboxListItem, SandboxState } from '@daytona/api-client'
import type { Account } from './account.ts'
import { callPatiently } from './patience.ts'

/** Which sandboxes to list; whatever is absent does not narrow. */
export interface SandboxFilter {
  readonly labels?: Readonly<Record<string, string>>
  /** Made from one of these. */
  readonly snapshots?: readonly string[]
  readonly region?: string
  readonly states?: readonly SandboxState[]
}

/** The most that the provider puts on a page. */
const PAGE = 200

/**
 * All that exist, from all pages, with the unclaimed members of the provider's own pools: those have a `warmPoolId`, and listings by the SDK leave them
 * out. Rejects as `callPatiently` does.
 */
export async function listSandboxes(account: Account, filter: SandboxFilter = {}): Promise<readonly SandboxListItem[]> {
  const found: SandboxListItem[] = []
  let cursor: string | undefined
  do {
    const from = cursor
    const ask = () => listPage(account, filter, from)
    const { items, nextCursor } = await callPatiently(account, 'list the sandboxes', ask, { idempotent: true })
    found.push(...items.filter(({ state }) => state !== 'destroyed'))
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

function listPage({ sandboxes }: Account, { labels, snapshots, region, states }: SandboxFilter, cursor?: string) {
  return sandboxes.listSandboxes(
    undefined, // the organisation is the key's
    cursor,
    PAGE,
    undefined, // any id
    undefined, // any name
    labels === undefined ? undefined : JSON.stringify(labels),
    true, // those too that failed to be deleted: they may cost
    true, // unclaimed members of pools
    states === undefined ? undefined : [...states],
    snapshots === undefined ? undefined : [...snapshots],
    region === undefined ? undefined : [region],
  )
}
