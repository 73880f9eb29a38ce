import { type Case, measureRates } from '../measure.ts'

export { type Case, inFlight, median } from '../measure.ts'

/** Operations a second of each case, without their spread: for comparisons whose rows have none. */
export async function measure(
  cases: readonly Case[],
  rounds: number,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const rateOf = await measureRates(cases, rounds, signal)
  return new Map(cases.map(({ name }) => [name, rateOf(name).value]))
}
