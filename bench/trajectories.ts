import { toGroupId, toJobId, toRunId } from '../src/ids.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import type { Trajectory } from '../src/rollout/trajectory.ts'

const TURNS = 10
const PROMPT_IDS = 1_500
const OUTPUT_IDS = 170

/** A trajectory of real size: 10 turns of 1,500 prompt and 170 output ids with logprobs, about 75 KB packed. */
export function makeRealSizeTrajectory(): Trajectory {
  const turns = Array.from({ length: TURNS }, (_, turn) => ({
    role: 'assistant' as const,
    text: `Turn ${turn}: run the tests and read what fails.`,
    toolCalls: [
      { name: 'bash', arguments: { command: 'python3 -m pytest -q' }, result: '3 failed, 5 passed', isError: false },
    ],
    atMs: turn * 1_000,
    tookMs: 900,
    tokens: {
      prompt: Uint32Array.from({ length: PROMPT_IDS }, (_, place) => (place * 7_919 + turn) % 150_000),
      output: Uint32Array.from({ length: OUTPUT_IDS }, (_, place) => (place * 104_729 + turn) % 150_000),
      logprobs: Float32Array.from({ length: OUTPUT_IDS }, (_, place) => -((place % 97) + 1) / 31),
    },
  }))
  return { prompt: 'Repair calc.py so that the tests pass.', turns, answer: 'done', grade: { score: 1 } }
}

export function makeBenchHeader(group: number, member: number, bytes: number): RunHeader {
  return {
    runId: toRunId(`run-${group}-${member}`),
    jobId: toJobId('bench'),
    groupId: toGroupId(`group-${group}`),
    step: 0,
    index: group,
    member,
    attempt: 1,
    task: { env: 'calc', id: 'repair', args: { variant: group }, slug: `repair-${group}` },
    outcome: 'graded',
    reward: member % 2,
    stopReason: 'done',
    lease: 'hit',
    timings: { provisioning: 1, connecting: 2, starting: 3, agent: 4, grading: 5, cleanup: 6 },
    startedAt: 0,
    endedAt: 1,
    seed: group,
    agent: 'bench',
    bytes,
  }
}

/** For `JSON.stringify`, which would make objects of typed arrays. */
export function toPlainArrays(_key: string, value: unknown): unknown {
  return value instanceof Uint32Array || value instanceof Float32Array ? [...value] : value
}
