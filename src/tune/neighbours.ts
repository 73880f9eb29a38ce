import { type Candidate, holds } from './candidates.ts'
import { COLD } from './evaluate.ts'
import type { TuneResult } from './tune.ts'

const COUNT = 2

/** Two plans to try beside the chosen one: of its kind, smaller and larger, or else cold and the best of another kind. */
export function neighboursOf({ chosen, evaluated, front }: TuneResult): readonly Candidate[] {
  const { candidate } = chosen
  const sizeOf = ({ size, parents, strategy }: Candidate) => (holds(strategy) || size > 0 ? size : parents)
  const kind = evaluated
    .map(each => each.candidate)
    .filter(({ strategy, wave }) => strategy === candidate.strategy && wave === undefined)
  const smaller = kind
    .filter(each => sizeOf(each) < sizeOf(candidate))
    // About half of it: the next one down can hardly be told from it.
    .toSorted(
      (left, right) => Math.abs(2 * sizeOf(left) - sizeOf(candidate)) - Math.abs(2 * sizeOf(right) - sizeOf(candidate)),
    )
  const larger = kind
    .filter(each => sizeOf(each) > sizeOf(candidate))
    .toSorted((left, right) => sizeOf(left) - sizeOf(right))
  const wanted = [...smaller.slice(0, 1), ...larger.slice(0, 1), COLD, ...front.map(each => each.candidate)]
  const texts = new Set([JSON.stringify(candidate)])
  return wanted.filter(each => texts.size < texts.add(JSON.stringify(each)).size).slice(0, COUNT)
}
