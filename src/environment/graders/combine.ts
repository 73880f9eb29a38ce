import { badWeight, noPositiveWeight, nothingToCombine, valueOutOfRange } from './errors.ts'
import type { Score, Subscore } from './score.ts'

/**
 * One weighted part for `combine`, from a number or from what another grader found. A weight below 0 makes it a penalty.
 * Throws `bad-grade` for a value outside 0 to 1.
 */
export async function weigh(
  name: string,
  weight: number,
  graded: number | Score | Promise<number | Score>,
): Promise<Subscore> {
  const score = await graded
  const { score: value, info, subscores } = typeof score === 'number' ? { score } : score
  if (!(value >= 0 && value <= 1)) throw valueOutOfRange(name, value)
  if (!Number.isFinite(weight)) throw badWeight(name, weight)
  return {
    name,
    value,
    weight,
    ...(info === undefined ? {} : { info }),
    ...(subscores === undefined ? {} : { children: subscores }),
  }
}

/**
 * The weighted sum of all parts, which are waited for together. Positive weights are shares and come to 1 between them;
 * penalties are taken off as they are, so the score can fall below 0. Equal names get numbers. Throws `bad-grade` when no
 * part has a positive weight.
 */
export async function combine(...parts: readonly (Subscore | Promise<Subscore>)[]): Promise<Score> {
  if (parts.length === 0) throw nothingToCombine()
  const resolved = await Promise.all(parts)
  const total = resolved.reduce((sum, { weight }) => sum + Math.max(0, weight), 0)
  if (!(total > 0)) throw noPositiveWeight()
  const subscores = withUniqueNames(resolved).map(part =>
    part.weight > 0 ? { ...part, weight: part.weight / total } : part,
  )
  return { score: subscores.reduce((sum, { value, weight }) => sum + value * weight, 0), subscores }
}

/** A part that is as good as its best child. Throws `bad-grade` without children. */
export function combineAny(name: string, weight: number, children: readonly Subscore[]): Subscore {
  return toParent(name, weight, children, values => Math.max(...values))
}

/** A part that is as good as its worst child. Throws `bad-grade` without children. */
export function combineAll(name: string, weight: number, children: readonly Subscore[]): Subscore {
  return toParent(name, weight, children, values => Math.min(...values))
}

function toParent(
  name: string,
  weight: number,
  children: readonly Subscore[],
  choose: (values: readonly number[]) => number,
): Subscore {
  if (children.length === 0) throw nothingToCombine()
  return { name, weight, value: choose(children.map(({ value }) => value)), children: withUniqueNames(children) }
}

/** A name that occurs once stays; of the others each gets the next number that gives a name nobody has. */
function withUniqueNames(parts: readonly Subscore[]): Subscore[] {
  const given = parts.map(({ name }) => name)
  const taken = new Set(given)
  return parts.map(part => {
    if (given.indexOf(part.name) === given.lastIndexOf(part.name)) return part
    let number = 1
    while (taken.has(`${part.name}-${number}`)) number += 1
    taken.add(`${part.name}-${number}`)
    return { ...part, name: `${part.name}-${number}` }
  })
}
