export { fitLatencyModel } from './fit.ts'
export {
  type Arrivals,
  type Durations,
  type JobShape,
  type PoolPlan,
  PUBLISHED_JOB,
} from './job.ts'
export { type LadderRow, PUBLISHED_LADDER } from './ladder-row.ts'
export { type LatencyModel, PUBLISHED_MODEL, scaleModel } from './latency-model.ts'
export { type Figures, type Outcome, type StepOutcome, toFigures } from './outcome.ts'
export { readLadder, toLadder } from './read-ladder.ts'
export { simulate } from './simulate.ts'
