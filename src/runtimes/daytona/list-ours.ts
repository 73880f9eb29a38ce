import type { SandboxListItem } from '@daytona/api-client'
import type { Account } from './account.ts'
import { callDaytona } from './call.ts'
import { fromProviderLabels, PROVIDER_LABELS } from './labels.ts'

/** A sandbox at the provider that has a name of ours and our labels. */
export interface OurSandbox {
  /** Our id. */
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

const PAGE = 200

/** Sandboxes made from this snapshot by us, whoever of us: unclaimed members of pools are nobody's yet. */
export async function listOurs({ sandboxes }: Account, snapshot: string): Promise<readonly OurSandbox[]> {
  const found: OurSandbox[] = []
  let cursor: string | undefined
  do {
    const page = await callDaytona('list the sandboxes', () =>
      sandboxes.listSandboxes(undefined, cursor, PAGE, undefined, undefined, undefined, undefined, false, undefined, [
        snapshot,
      ]),
    )
    for (const item of page.items) {
      const id = item.labels[PROVIDER_LABELS.sandbox]
      if (id !== undefined && exists(item)) found.push({ id, labels: fromProviderLabels(item.labels) })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

function exists({ state }: SandboxListItem): boolean {
  return state !== 'destroyed'
}
