import { deriveSeed, makeRandom } from '../../../src/random.ts'
import { tellFigures } from '../../support/figures.ts'
import { needTime } from '../../support/need-time.ts'
import type { Suite } from '../../support/suite.ts'

export interface Draw {
  readonly seed: number
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number
  /** One of them. */
  one<const Item>(items: readonly [Item, ...Item[]]): Item
  /** So many different whole numbers from 1 to `most`. */
  moments(count: number, most: number): readonly number[]
}

/** Times as many seeds as a test asks for by itself, which is what CI takes. */
const TIMES = Number(process.env.TROUPE_FAULT_TIMES ?? 1)
const FILE_MS = 240_000

let injected = 0
let survived = 0

/** Numbers that a seed decides. */
export function drawFrom(...parts: readonly (string | number)[]): Draw {
  const seed = deriveSeed(...parts)
  const random = makeRandom(seed)
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  return {
    seed,
    whole,
    one: items => items[whole(0, items.length - 1)] ?? items[0],
    moments(count, most) {
      const drawn = new Set<number>()
      while (drawn.size < Math.min(count, most)) drawn.add(whole(1, most))
      return [...drawn]
    },
  }
}

/** A test that is run once for each of the seeds 1 to `seeds`, or as many times that as `TROUPE_FAULT_TIMES` says. `body` gives how many faults it injected and saw through. */
export function faultTest(
  test: Suite,
  title: string,
  { seeds, deadlineMs = 120_000 }: { readonly seeds: number; readonly deadlineMs?: number },
  body: (draw: Draw) => Promise<number>,
): void {
  if (TIMES > 1) needTime(FILE_MS * TIMES)
  test(
    title,
    async () => {
      for (let seed = 1; seed <= seeds * TIMES; seed += 1) {
        try {
          const faults = await body(drawFrom(title, seed))
          injected += faults
          survived += faults
        } catch (error) {
          injected += 1
          const why = error instanceof Error ? error.message : String(error)
          throw new Error(`seed ${seed} of "${title}": ${why}`, { cause: error })
        }
      }
    },
    { deadlineMs: deadlineMs * Math.max(1, TIMES) },
  )
}

/** Ends a file: runs the suite, then says how many faults there were and how many of them were survived. */
export function runFaults(test: Suite): void {
  test.after(() => tellFigures(`faults: ${injected} injected, ${survived} survived`))
  test.run()
}
