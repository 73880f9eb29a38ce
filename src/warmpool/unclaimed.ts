/** What is really in a provider's pool, where somebody can be asked who sees it. */
import { type EmulatorState, readState } from '../ladder/emulator/emulator-state.ts'
import type { PoolMoment } from '../ladder/level.ts'
import type { EmulatorPlace } from '../ladder/process/calls.ts'

const LOOK_MS = 50

/** How many were unclaimed, milliseconds after the looking began. */
export interface Look {
  readonly atMs: number
  readonly unclaimed: number
}

export interface Watched<Value> {
  readonly value: Value
  readonly looks: readonly Look[]
}

/** Looks at an emulator's pool for as long as `work` takes, once more at its end. What `work` rejects with, it rejects with. */
export async function watchUnclaimed<Value>(
  place: EmulatorPlace,
  work: () => Promise<Value>,
  look: (place: EmulatorPlace) => Promise<Pick<EmulatorState, 'unclaimed'>> = readState,
): Promise<Watched<Value>> {
  const from = performance.now()
  const looks: Look[] = []
  const take = async () => {
    const { unclaimed } = await look(place)
    looks.push({ atMs: performance.now() - from, unclaimed })
  }
  let isLooking = false
  let looking = Promise.resolve()
  /** A look that is under way when the next is due stands for both: a busy emulator is not asked more than once at a time. */
  const takeNext = () => {
    if (isLooking) return
    isLooking = true
    looking = looking.then(take).finally(() => {
      isLooking = false
    })
    looking.catch(() => {}) // told at the end
  }
  takeNext()
  const timer = setInterval(takeNext, LOOK_MS)
  try {
    const value = await work()
    clearInterval(timer)
    await looking.then(take)
    return { value, looks }
  } finally {
    clearInterval(timer)
  }
}

/** The moments with what was really there, instead of the pool's own count, which is up to two seconds old. */
export function withLooks(moments: readonly PoolMoment[], looks: readonly Look[]): readonly PoolMoment[] {
  let next = 0
  return moments.map(moment => {
    while ((looks[next + 1]?.atMs ?? Number.POSITIVE_INFINITY) <= moment.atMs) next += 1
    const providerReady = looks[next]?.unclaimed
    return providerReady === undefined ? moment : { ...moment, providerReady }
  })
}

/** From when on, to the end, there were at least so many; undefined where there are not at the end. */
export function fullSince(looks: readonly Look[], size: number): number | undefined {
  const lastShort = looks.findLastIndex(({ unclaimed }) => unclaimed < size)
  return looks[lastShort + 1] === undefined ? undefined : lastShort === -1 ? 0 : looks[lastShort + 1]?.atMs
}
