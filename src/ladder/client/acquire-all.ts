import { type ErrorData, toErrorData } from '../../errors.ts'
import type { Sample } from '../level.ts'
import type { Held } from './ladder-client.ts'

/** A sandbox that answers, and how it is given back. */
export interface Acquired {
  readonly sample: Sample
  /** Resolves when the provider has agreed to delete it, or when the pool has been told. */
  giveBack(): Promise<void>
}

/** All at once. `acquire` rejects leaving nothing behind. */
export async function acquireAll(width: number, acquire: () => Promise<Acquired>): Promise<Held> {
  const settled = await Promise.allSettled(Array.from({ length: width }, acquire))
  const acquired: Acquired[] = []
  const failures: ErrorData[] = []
  for (const each of settled)
    if (each.status === 'fulfilled') acquired.push(each.value)
    else failures.push(toErrorData(each.reason))
  return {
    samples: acquired.map(({ sample }) => sample),
    failures,
    async giveBack() {
      await Promise.all(acquired.map(each => each.giveBack()))
    },
  }
}
