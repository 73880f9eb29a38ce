import { sleep } from '../../../clock.ts'
import { type ErrorData, hasTag, toErrorData } from '../../../errors.ts'
import type { Account } from '../account/account.ts'
import { listSandboxes, type SandboxFilter } from '../account/list-sandboxes.ts'
import { mapWide } from '../account/map-wide.ts'
import { patiently } from '../account/patience.ts'
import { notGone } from './errors.ts'
import { askToDelete } from './remove-sandbox.ts'

export interface RemoveOptions {
  /** Where to look whether they are gone. */
  readonly filter?: SandboxFilter
  /** After which what is still listed counts as not gone. Default one minute. */
  readonly deadlineMs?: number
  /** Told of each as soon as it is known to be gone, or not to go. */
  readonly onEach?: (id: string, problem: ErrorData | undefined) => void
}

const DEADLINE_MS = 60_000
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = 1_000

/**
 * Deletes sandboxes and sees from listings, which cost the same however many they are, that they are gone. Answers the problem of each that is not; rejects only if they
 * cannot be listed.
 */
export async function removeSandboxes(
  account: Account,
  ids: readonly string[],
  { filter, deadlineMs = DEADLINE_MS, onEach = () => {} }: RemoveOptions = {},
): Promise<ReadonlyMap<string, ErrorData>> {
  const problems = new Map<string, ErrorData>()
  const going = new Set<string>()
  const settle = (id: string, problem?: ErrorData) => {
    going.delete(id)
    if (problem !== undefined) problems.set(id, problem)
    onEach(id, problem)
  }
  await mapWide(ids, async id => {
    const problem = await remove(account, id)
    if (problem === undefined) going.add(id)
    else settle(id, problem)
  })
  const until = account.clock.now() + deadlineMs
  for (let lookMs = FIRST_LOOK_MS; going.size > 0; lookMs = Math.min(2 * lookMs, LAST_LOOK_MS)) {
    const left = new Map((await listSandboxes(account, filter)).map(({ id, state }) => [id, state]))
    for (const id of going) if (!left.has(id)) settle(id)
    if (account.clock.now() >= until)
      for (const id of going) settle(id, notGone(id, left.get(id) ?? 'unknown', deadlineMs))
    if (going.size > 0) await sleep(account.clock, lookMs)
  }
  return problems
}

/** Undefined: it goes, or is gone already. */
async function remove(account: Account, id: string): Promise<ErrorData | undefined> {
  try {
    await patiently(account, () => askToDelete(account, id), { idempotent: true })
    return undefined
  } catch (error) {
    // Something is being done with it, most likely the same.
    return hasTag(error, 'daytona-conflict') ? undefined : toErrorData(error)
  }
}
