/** The runner shows these lines although their file passed: what a suite counted. */
export const FIGURES_PREFIX = 'figures: '

/** Tells what a test has counted, in one line. */
export function tellFigures(text: string): void {
  // uvu writes a dot for each test without ending the line.
  process.stdout.write(`\n${FIGURES_PREFIX}${text}\n`)
}
