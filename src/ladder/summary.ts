import type { Level } from './level.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'

/** One level's samples in figures. Milliseconds. */
export interface LevelSummary {
  readonly usable: Percentiles
  /** Each stage's own time, from the end of the stage before, by its name; in the order of the stages. */
  readonly stages: ReadonlyMap<string, Percentiles>
}

export function summarise({ samples }: Pick<Level, 'samples'>): LevelSummary {
  const stages = new Map<string, number[]>()
  for (const sample of samples) {
    let before = 0
    for (const [stage, overMs] of Object.entries(sample.stages)) {
      const took = stages.get(stage) ?? []
      took.push(overMs - before)
      stages.set(stage, took)
      before = overMs
    }
  }
  return {
    usable: toPercentiles(samples.map(({ usableMs }) => usableMs)),
    stages: new Map([...stages].map(([stage, took]) => [stage, toPercentiles(took)])),
  }
}
