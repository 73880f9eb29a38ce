import type { CancelTimer } from '../../../clock.ts'
import type { Account } from '../account/account.ts'
import { findSandbox } from '../account/find-sandbox.ts'
import { removeSandbox } from './remove-sandbox.ts'

/** Creates without an answer, of which nothing was found yet: a slow provider may still make something of them. */
export interface Strays {
  /** Looks again later, a few times, and deletes what is found. */
  add(name: string): void
  /** Looks once more for all of them. Returns the names of those that may still exist. */
  close(): Promise<readonly string[]>
}

const LOOKS_AFTER_MS = [10_000, 30_000, 120_000]

export function makeStrays(account: Account): Strays {
  const names = new Map<string, CancelTimer>()
  const looking = new Set<Promise<void>>()

  function lookLater(name: string, turn: number): void {
    const pauseMs = LOOKS_AFTER_MS[turn]
    if (pauseMs === undefined) {
      names.delete(name)
      return
    }
    const wake = () => {
      const look = remove(name).then(
        found => (found ? void names.delete(name) : next()),
        next, // the provider does not tell, or it will not go: both may have changed by the next look
      )
      looking.add(look)
      look.finally(() => looking.delete(look))
    }
    const next = () => {
      if (names.has(name)) lookLater(name, turn + 1)
    }
    names.set(name, account.clock.after(pauseMs, wake))
  }

  async function remove(name: string): Promise<boolean> {
    const found = await findSandbox(account, name)
    if (found !== undefined) await removeSandbox(account, found.id)
    return found !== undefined
  }

  return {
    add: name => lookLater(name, 0),
    async close() {
      const left = [...names]
      names.clear()
      for (const [, cancel] of left) cancel()
      await Promise.all(looking)
      const outcomes = await Promise.allSettled(left.map(([name]) => remove(name)))
      return left.flatMap(([name], index) => (outcomes[index]?.status === 'rejected' ? [name] : []))
    },
  }
}
