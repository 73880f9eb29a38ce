import * as fc from 'fast-check'
import { tellFigures } from '../support/figures.ts'

/** Executions of each property; `TROUPE_FUZZ` overrides what is enough for every commit. */
const ASKED = Number(process.env.TROUPE_FUZZ ?? 0)
/** `TROUPE_FUZZ_SEED` runs again what a report names. */
export const SEED = Number(process.env.TROUPE_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))

const counts = new Map<string, number>()

/** How many executions a target gets. */
export function executionsOf(usual: number): number {
  return ASKED > 0 ? ASKED : usual
}

/** Counts one. */
export function executed(target: string, times = 1): void {
  counts.set(target, (counts.get(target) ?? 0) + times)
}

/** Time for many more executions than usual. */
export function deadlineOf(usual: number): { readonly deadlineMs: number } {
  return { deadlineMs: 30_000 * Math.max(1, executionsOf(usual) / usual) }
}

/** Runs a property, synchronous or not, and counts its executions. A failure names seed and path. */
export async function fuzz<Values extends [unknown, ...unknown[]]>(
  target: string,
  usual: number,
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  body: (...values: Values) => void | Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(fc.tuple<Values>(...arbitraries), async values => {
    executed(target)
    await body(...values)
  })
  await fc.assert(property, { numRuns: executionsOf(usual), seed: SEED })
}

/** One line for each target. */
export function report(): void {
  for (const [target, count] of counts) tellFigures(`${target}: ${count} executions, seed ${SEED}`)
}

/** Cuts bytes at arbitrary places. */
export function pieces(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
}

export const cuts = fc.array(fc.nat(), { maxLength: 12 })

/** Hostile JSON: values of every kind, and keys that reach prototypes where a reader is careless. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec<{ leaf: unknown; value: unknown }>(tie => ({
  leaf: fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(0, -0, -1, 2 ** 53, 1e308, '', '__proto__', 'constructor', '\u0000', '\ud800', 'x'.repeat(300)),
  ),
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', 'then')), tie('value')),
        {
          maxLength: 4,
        },
      )
      .map(entries =>
        JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`),
      ),
  ),
})).value

/** Keys of the prototypes that everything has; unchanged after whatever was read. */
export function prototypeKeys(): string {
  return [Object.prototype, Array.prototype, Function.prototype, String.prototype]
    .map(prototype => Reflect.ownKeys(prototype).map(String).join())
    .join('\n')
}
