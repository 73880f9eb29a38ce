import { sleep } from '../clock.ts'
import type { Context } from './context.ts'
import type { SandboxRecord } from './sandbox.ts'
import type { Sandboxes } from './sandboxes.ts'

const MINUTE_MS = 60_000

export type Due = 'destroy' | 'stop' | undefined

/** What is to happen to a sandbox by now: of its intervals and its time to live, all in minutes of the outside's clock. */
export function whatIsDue(
  record: Pick<
    SandboxRecord,
    'state' | 'destroyAt' | 'autoStopInterval' | 'autoDeleteInterval' | 'lastActivityAt' | 'updatedAt' | 'warmPoolId'
  >,
  now: number,
): Due {
  if (record.destroyAt !== undefined && now >= record.destroyAt) return 'destroy'
  const { state, autoStopInterval, autoDeleteInterval } = record
  const idle = now - record.lastActivityAt >= autoStopInterval * MINUTE_MS
  if (state === 'started' && autoStopInterval > 0 && record.warmPoolId === undefined && idle) return 'stop'
  const stopped = now - record.updatedAt >= autoDeleteInterval * MINUTE_MS
  return state === 'stopped' && autoDeleteInterval > 0 && stopped ? 'destroy' : undefined
}

/** Looks every `everyMs` until the emulator closes. */
export async function keepLifetimes(
  { wall, signal, background }: Context,
  sandboxes: Sandboxes,
  everyMs: number,
): Promise<void> {
  for (;;) {
    await sleep(wall, everyMs, signal)
    for (const record of sandboxes.records.values()) {
      const due = whatIsDue(record, wall.wallTime())
      if (due === 'stop') sandboxes.stop(record)
      else if (due === 'destroy') background(sandboxes.destroy(record))
    }
  }
}
