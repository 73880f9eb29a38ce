import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import { packTrajectory, toRun } from '../../src/rollout/pack.ts'
import type { Run, RunHeader } from '../../src/rollout/run.ts'
import type { Trajectory, TurnTokens } from '../../src/rollout/trajectory.ts'

export interface TrainingRunOptions {
  readonly group?: number
  readonly member?: number
  readonly reward?: number | null
  readonly turns?: number
  readonly promptIds?: number
  readonly outputIds?: number
  /** Ids are below it. */
  readonly vocabulary?: number
  /** In place of made-up tokens, for each turn; undefined is a turn without. */
  readonly tokens?: readonly (TurnTokens | undefined)[]
}

/** A graded run with tokens, packed as the engine hands runs on. */
export function makeTrainingRun(options: TrainingRunOptions = {}): Run {
  const { group = 0, member = 0, turns = 2, promptIds = 5, outputIds = 3, vocabulary = 32 } = options
  const reward = options.reward === undefined ? member % 2 : options.reward
  const tokens =
    options.tokens ??
    Array.from({ length: turns }, (_, turn) => ({
      prompt: Uint32Array.from({ length: promptIds }, (_, place) => (place + turn + group) % vocabulary),
      output: Uint32Array.from({ length: outputIds }, (_, place) => (place * 7 + turn + member) % vocabulary),
      logprobs: Float32Array.from({ length: outputIds }, (_, place) => -0.1 * (place + 1) - member / 3),
    }))
  const trajectory: Trajectory = {
    prompt: 'Repair calc.py',
    turns: tokens.map((each, turn) => ({
      role: 'assistant',
      text: `turn ${turn}`,
      atMs: turn,
      tookMs: 1,
      ...(each === undefined ? {} : { tokens: each }),
    })),
    answer: 'done',
    grade: { score: reward },
  }
  const bytes = packTrajectory(trajectory)
  return toRun(makeTrainingHeader(group, member, reward, bytes.byteLength), bytes)
}

/** Whole groups, members side by side; rewards alternate 0 and 1. */
export function makeTrainingGroups(groups: number, size: number, options: TrainingRunOptions = {}): Run[] {
  return Array.from({ length: groups * size }, (_, place) =>
    makeTrainingRun({ ...options, group: Math.floor(place / size), member: place % size }),
  )
}

function makeTrainingHeader(group: number, member: number, reward: number | null, bytes: number): RunHeader {
  return {
    runId: toRunId(`run-${group}-${member}`),
    jobId: toJobId('job-1'),
    groupId: toGroupId(`group-${group}`),
    step: 0,
    index: group,
    member,
    attempt: 1,
    task: { env: 'calc', id: 'repair', args: { variant: group }, slug: `repair-${group}` },
    outcome: reward === null ? 'infrastructure-error' : 'graded',
    reward,
    stopReason: 'done',
    lease: 'cold',
    timings: { agent: 1 },
    startedAt: 0,
    endedAt: 1,
    seed: group,
    agent: 'test',
    bytes,
  }
}
