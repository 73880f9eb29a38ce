import type { Account } from '../account/account.ts'
import { listSandboxes } from '../account/list-sandboxes.ts'
import { fromProviderLabels, readLabels } from '../labels.ts'

/** A sandbox at the provider that has a name of ours and our labels. */
export interface OurSandbox {
  /** Our id. */
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** Sandboxes made from these snapshots by us, whoever of us: unclaimed members of pools are nobody's yet. */
export async function listOurs(account: Account, snapshots: readonly string[]): Promise<readonly OurSandbox[]> {
  return (await listSandboxes(account, { snapshots: [...snapshots] })).flatMap(({ labels }) => {
    const { sandbox: id } = readLabels(labels)
    return id === undefined ? [] : [{ id, labels: fromProviderLabels(labels) }]
  })
}
