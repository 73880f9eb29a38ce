import type { FeedState, LiveRollout } from '../../src/feed/messages.ts'
import type { Phase } from '../../src/rollout/run.ts'
import { makeSnapshot } from '../report/scene.ts'
import { poolOf, stepOf } from '../telemetry/metrics/scene.ts'

export const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const SECOND = 1_000

export function rolloutOf(
  n: number,
  phase: Phase,
  inPhase: number,
  inAll: number,
  given: Partial<LiveRollout> = {},
): LiveRollout {
  return {
    runId: `run-000${n}`,
    groupId: `group-${n % 2}`,
    slug: `fix-v${n % 2}`,
    step: 2,
    member: n,
    attempt: 1,
    phase,
    startedAt: AT - inAll * SECOND,
    since: AT - inPhase * SECOND,
    ...given,
  }
}

/** A training at its third step of ten, with three rollouts under way. */
export function stateOf(given: Partial<FeedState> = {}): FeedState {
  return {
    job: {
      jobId: 'job-1',
      name: 'calc',
      version: '0.1.0',
      source: 'live',
      runtime: 'local',
      threads: 2,
      maxConcurrent: 128,
      settings: { shape: { steps: 10 } },
      startedAt: AT - 125 * SECOND,
    },
    at: AT,
    now: {
      snapshot: makeSnapshot([], 0, {
        ...{ plannedRuns: 48, finishedRuns: 36, graded: 35, passed: 28, rewardSum: 28, inFlight: 3, creditsInUse: 12 },
        pool: poolOf({ ready: 3, leased: 3, waiting: 0 }),
      }),
      rate: 2.5,
      hitRate: 0.9,
      cost: { amount: 1.234, currency: 'USD' },
      step: 2,
    },
    live: [rolloutOf(1, 'agent', 8, 41), rolloutOf(2, 'grading', 2, 30), rolloutOf(3, 'agent', 60, 65)],
    runs: [],
    groups: [],
    chunks: [],
    training: {
      steps: [0.25, 0.5].map((passRate, step) =>
        stepOf({ step, passRate, loss: 12.34, wallMs: 50_000, startedAt: AT - (110 - 50 * step) * SECOND }),
      ),
      evaluations: [
        ...[
          {
            afterSteps: 0,
            split: 'held-out',
            runs: 4,
            solved: 1,
            passRate: 0.25,
            errored: 0,
            wallMs: 5_000,
            versions: {},
          },
        ],
      ],
    },
    failures: [],
    problems: [],
    ...given,
  }
}

export const FAILURES: FeedState['failures'] = [
  {
    kind: 'deadline',
    outcome: 'agent-error',
    count: 1,
    first: { runId: 'run-9', slug: 'fix-v9', phase: 'agent', message: 'it took longer than 300 s', at: AT },
  },
  {
    kind: 'model-lost',
    outcome: 'infrastructure-error',
    count: 12,
    first: {
      runId: 'run-7',
      slug: 'fix-v7',
      phase: null,
      message: 'no answer\nfrom \u001b[31mthe model\u001b[0m',
      at: AT,
    },
  },
]
