/** The runner shows these lines although their file passed: what a suite counted. */
export const FIGURES_PREFIX = 'figures: '

/** Tells what a test has counted, in one line. */
export function tellFigures(text: string): void {
  // uvu writes a dot for each test without ending the line.
  process.stdout.write(`\n${FIGURES_PREFIX}${text}\n`)
}

/** Lines that the runner adds up over all files and shows at its end. */
export const TALLY_PREFIX = 'tally: '

/** So many of each thing, for the one line that `what` has at the end: `what: 3 checks, 64 rollouts`. */
export interface Tally {
  readonly what: string
  readonly counts: Readonly<Record<string, number>>
}

export function tellTally(tally: Tally): void {
  process.stdout.write(`\n${TALLY_PREFIX}${JSON.stringify(tally)}\n`)
}

/** The lines of the end, each with its counts in the order in which they were first told. */
export function addTallies(tallies: readonly Tally[]): readonly string[] {
  const sums = new Map<string, Map<string, number>>()
  for (const { what, counts } of tallies) {
    const sum = sums.get(what) ?? new Map<string, number>()
    for (const [name, count] of Object.entries(counts)) sum.set(name, (sum.get(name) ?? 0) + count)
    sums.set(what, sum)
  }
  return [...sums]
    .sort()
    .map(([what, sum]) => `${what}: ${[...sum].map(([name, count]) => `${count} ${name}`).join(', ')}`)
}
