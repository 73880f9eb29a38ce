import { setTimeout as wait } from 'node:timers/promises'

/** Looks every `lookMs` until `done` or `withinMs` are over; whether it was done. */
export async function until(done: () => Promise<boolean>, lookMs: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (!(await done())) {
    if (performance.now() > deadline) return false
    await wait(lookMs)
  }
  return true
}
