import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { EmulatorPlace } from '../process/calls.ts'

const state = z.object({ existing: z.number(), unclaimed: z.number() })
export type EmulatorState = z.infer<typeof state>

const LOOK_MS = 50

/** Every sandbox that exists in the emulator, whatever listings leave out. */
export async function readState(place: EmulatorPlace): Promise<EmulatorState> {
  return state.parse(await ask(place, '/emulator/state'))
}

const timeline = z.object({
  name: z.string(),
  steps: z.array(z.object({ operation: z.string(), startMs: z.number(), endMs: z.number().nullable() })),
  floorMs: z.number().nullable(),
})
/** When the emulator did what for one sandbox. Milliseconds since 1970, with fractions. */
export type Timeline = z.infer<typeof timeline>

/** Of the sandboxes that began last, `limit` of them. */
export async function readTimelines(place: EmulatorPlace, limit: number): Promise<readonly Timeline[]> {
  const answer = await ask(place, `/emulator/timeline?limit=${limit}`)
  return z.object({ items: z.array(timeline) }).parse(answer).items
}

async function ask({ url, apiKey }: EmulatorPlace, path: string): Promise<unknown> {
  const answer = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${apiKey}` } })
  if (!answer.ok) throw new Error(`the emulator answered ${answer.status} to ${path}`)
  return answer.json()
}

/** Resolves with how many sandboxes exist beyond those that are `kept`, once there are none or `withinMs` is over. */
export async function countLeft(
  place: EmulatorPlace,
  kept: (state: EmulatorState) => number,
  withinMs: number,
): Promise<number> {
  const until = performance.now() + withinMs
  for (;;) {
    const now = await readState(place)
    const left = Math.max(0, now.existing - kept(now))
    if (left === 0 || performance.now() > until) return left
    await wait(LOOK_MS)
  }
}
