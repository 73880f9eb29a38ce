import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import type { GroupEnd, GroupRecord } from '../../src/rollout/group.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import type { Trajectory } from '../../src/rollout/trajectory.ts'

const task = { env: 'calc', id: 'repair', args: { variant: 3 }, slug: 'repair-3', columns: { bugs: 2 } }

export function makeHeader(given: Partial<RunHeader> = {}): RunHeader {
  const { index = 0, member = 0, step = 0 } = given
  return {
    runId: toRunId(`run-${step}-${index}-${member}`),
    jobId: toJobId('job-1'),
    groupId: toGroupId(`group-${step}-${index}`),
    step,
    index,
    member,
    attempt: 1,
    task,
    outcome: 'graded',
    reward: 0.5,
    stopReason: 'done',
    lease: 'cold',
    timings: { agent: 12.5 },
    startedAt: 1_700_000_000_000,
    endedAt: 1_700_000_001_000,
    seed: 7,
    agent: 'repairer',
    bytes: 0,
    ...given,
  }
}

export function makeTrajectory(turns = 2, promptIds = 5, outputIds = 3): Trajectory {
  return {
    prompt: 'Repair calc.py',
    turns: Array.from({ length: turns }, (_, turn) => ({
      role: 'assistant',
      text: `turn ${turn}: naïve ✓`,
      toolCalls: [{ name: 'bash', arguments: { command: 'pytest -q' }, result: '2 passed', isError: false }],
      atMs: turn * 10,
      tookMs: 3.25,
      tokens: {
        prompt: Uint32Array.from({ length: promptIds }, (_, place) => place * 1_000 + turn),
        output: Uint32Array.from({ length: outputIds }, (_, place) => 4_000_000_000 + place),
        logprobs: Float32Array.from({ length: outputIds }, (_, place) => -0.1 * (place + 1)),
      },
    })),
    answer: { done: true },
    grade: { score: 0.5, subscores: [{ name: 'tests', value: 0.5 }] },
  }
}

export function makeGroupRecord(
  given: { step?: number; index?: number; end?: GroupEnd; runs?: RunHeader[] } = {},
): GroupRecord {
  const { step = 0, index = 0, end = { type: 'complete' }, runs = [] } = given
  return { jobId: toJobId('job-1'), groupId: toGroupId(`group-${step}-${index}`), step, index, task, end, runs }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
