import { standardDeviation } from '../../report/spread.ts'
import type { Group } from '../../rollout/group.ts'
import type { StepRecord } from '../records.ts'
import type { InspectedGroup } from './inspect-group.ts'

/** What was rolled out, added up group by group, so that nothing of the groups themselves is kept. */
export interface Figures {
  add(inspected: Pick<InspectedGroup, 'group' | 'samples' | 'tokens' | 'versions'>): void
  readonly totals: FigureTotals
}

/**
 * Those of a step's figures that rollouts alone decide. Pass rates are of graded runs, 0 when there are none; the spread is of
 * groups with one; `rolloutMs` is the time in which at least one rollout was under way, whichever process it was in.
 */
export type FigureTotals = Pick<
  StepRecord,
  'runs' | 'solved' | 'passRate' | 'errored' | 'groupSpread' | 'samples' | 'tokens' | 'rolloutMs' | 'versions'
>

export function makeFigures(): Figures {
  const spans: (readonly [from: number, to: number])[] = []
  const spreads: number[] = []
  const versions = new Map<string, number>()
  let runs = 0
  let solved = 0
  let errored = 0
  let samples = 0
  let tokens = 0
  return {
    add(inspected) {
      samples += inspected.samples
      tokens += inspected.tokens
      for (const [version, turns] of inspected.versions) versions.set(version, (versions.get(version) ?? 0) + turns)
      for (const run of inspected.group.runs) {
        runs += 1
        if (run.reward === 1) solved += 1
        if (run.reward === null) errored += 1
        spans.push([run.startedAt, run.endedAt])
      }
      const spread = standardDeviation(rewardsOf(inspected.group))
      if (spread !== null) spreads.push(spread)
    },
    get totals() {
      const graded = runs - errored
      return {
        runs,
        solved,
        passRate: graded === 0 ? 0 : solved / graded,
        errored,
        groupSpread: meanOf(spreads),
        samples,
        tokens,
        rolloutMs: coveredMs(spans),
        versions: Object.fromEntries([...versions].sort(([a], [b]) => (a < b ? -1 : 1))),
      }
    },
  }
}

function rewardsOf({ runs }: Group): readonly number[] {
  return runs.flatMap(({ reward }) => (reward === null ? [] : [reward]))
}

/** Summed in order of size, so that it does not depend on which group ended first. */
function meanOf(values: readonly number[]): number {
  if (values.length === 0) return 0
  return [...values].sort((a, b) => a - b).reduce((sum, each) => sum + each, 0) / values.length
}

/** The length of what the spans cover together. */
function coveredMs(spans: readonly (readonly [number, number])[]): number {
  let covered = 0
  let until = Number.NEGATIVE_INFINITY
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    covered += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return covered
}
