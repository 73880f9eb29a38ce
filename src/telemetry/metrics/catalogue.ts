/** What one metric is. `docs/metrics.md` has a row for each; a test compares them. */
export interface MetricDefinition {
  /** As Prometheus wants it: base units, and `_total` for what only grows. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly help: string
  /** Each has few values, known before: no id of a run, a task or a job is one. */
  readonly labels?: readonly string[]
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[]
  /** A gauge that has no sample until there is something to tell: 0 would be a figure. */
  readonly absentAtFirst?: true
}

/** Seconds: from a phase that a warm sandbox makes nothing of, to a rollout of an hour. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]
const REWARDS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

/** All that is exposed, in this order. */
export const METRICS = {
  info: {
    name: 'troupe_info',
    type: 'gauge',
    unit: '1',
    help: 'Always 1; the version of Troupe is its label.',
    labels: ['version'],
  },
  runs: {
    name: 'troupe_runs_total',
    type: 'counter',
    unit: 'runs',
    help: 'Runs that ended in this process, by outcome and environment.',
    labels: ['outcome', 'environment'],
  },
  runStops: {
    name: 'troupe_run_stops_total',
    type: 'counter',
    unit: 'runs',
    help: 'Runs that ended, by the reason why they stopped.',
    labels: ['reason'],
  },
  runRetries: {
    name: 'troupe_run_retries_total',
    type: 'counter',
    unit: 'attempts',
    help: 'Attempts on a fresh sandbox beyond the first, of runs that ended.',
  },
  runSeconds: {
    name: 'troupe_run_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long runs took, from start to end, by outcome.',
    labels: ['outcome'],
    buckets: SECONDS,
  },
  runPhaseSeconds: {
    name: 'troupe_run_phase_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long runs spent in each phase that they reached.',
    labels: ['phase'],
    buckets: SECONDS,
  },
  runReward: {
    name: 'troupe_run_reward',
    type: 'histogram',
    unit: 'reward',
    help: 'Rewards of graded runs. A run without a grade has none and is not counted.',
    buckets: REWARDS,
  },
  groups: {
    name: 'troupe_groups_total',
    type: 'counter',
    unit: 'groups',
    help: 'Groups that ended: complete, partial or dropped.',
    labels: ['status'],
  },
  groupsDropped: {
    name: 'troupe_groups_dropped_total',
    type: 'counter',
    unit: 'groups',
    help: 'Dropped groups, by reason.',
    labels: ['reason'],
  },
  jobRuns: {
    name: 'troupe_job_runs',
    type: 'gauge',
    unit: 'runs',
    help: 'Runs of the job so far, those of earlier processes included: planned, finished, graded.',
    labels: ['state'],
  },
  runsInFlight: {
    name: 'troupe_runs_in_flight',
    type: 'gauge',
    unit: 'runs',
    help: 'Runs that have a sandbox now.',
  },
  creditsInUse: {
    name: 'troupe_credits_in_use',
    type: 'gauge',
    unit: 'runs',
    help: 'Runs that threads have and that have not ended, with or without a sandbox.',
  },
  creditsLimit: {
    name: 'troupe_credits_limit',
    type: 'gauge',
    unit: 'runs',
    help: 'How many credits there are: --max-concurrent. 0 while no engine runs.',
  },
  waitingBytes: {
    name: 'troupe_waiting_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Packed bytes of finished groups that wait for their consumer.',
  },
  loopDelay: {
    name: 'troupe_event_loop_delay_p99_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: '99th percentile of the main thread’s event-loop delay since the job started.',
  },
  engineCpu: {
    name: 'troupe_engine_cpu_seconds_total',
    type: 'counter',
    unit: 'seconds',
    help: 'CPU time of this process since the job started; hosts and sandboxes are not in it.',
  },
  engineMemory: {
    name: 'troupe_engine_resident_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Resident memory of this process, mapped pages of the journal included.',
  },
  engines: {
    name: 'troupe_engines',
    type: 'gauge',
    unit: 'engines',
    help: 'Engines of the job that run now.',
  },
  poolSandboxes: {
    name: 'troupe_pool_sandboxes',
    type: 'gauge',
    unit: 'sandboxes',
    help: 'Sandboxes that exist, by state; parent: kept to be forked.',
    labels: ['state'],
  },
  poolTarget: {
    name: 'troupe_pool_target_sandboxes',
    type: 'gauge',
    unit: 'sandboxes',
    help: 'How many sandboxes the pool tries to hold ready now; 0 when cold.',
  },
  poolWaiting: {
    name: 'troupe_pool_waiting_requests',
    type: 'gauge',
    unit: 'requests',
    help: 'Requests for a sandbox that wait.',
  },
  poolLeases: {
    name: 'troupe_pool_leases_total',
    type: 'counter',
    unit: 'leases',
    help: 'Leases given, by where their sandbox came from; hit: it was ready.',
    labels: ['kind'],
  },
  poolCreated: {
    name: 'troupe_pool_sandboxes_created_total',
    type: 'counter',
    unit: 'sandboxes',
    help: 'Sandboxes that the pool has ever owned.',
  },
  poolGone: {
    name: 'troupe_pool_sandboxes_gone_total',
    type: 'counter',
    unit: 'sandboxes',
    help: 'Sandboxes that are confirmed gone.',
  },
  poolCreateFailures: {
    name: 'troupe_pool_create_failures_total',
    type: 'counter',
    unit: 'creates',
    help: 'Creates that failed.',
  },
  poolBreaker: {
    name: 'troupe_pool_breaker_open',
    type: 'gauge',
    unit: '1',
    help: '1 while the pool gives nothing out because its creates keep failing.',
  },
  trainingSteps: {
    name: 'troupe_training_steps_total',
    type: 'counter',
    unit: 'steps',
    help: 'Steps that ended in this process: trained, or skipped without an update.',
    labels: ['end'],
  },
  trainingStep: {
    name: 'troupe_training_step',
    type: 'gauge',
    unit: 'step',
    help: 'The step that began last, from 1.',
    absentAtFirst: true,
  },
  trainingLoss: {
    name: 'troupe_training_loss',
    type: 'gauge',
    unit: 'loss',
    help: 'Loss of the last step that trained on something: the sum over tokens.',
    absentAtFirst: true,
  },
  trainingPassRate: {
    name: 'troupe_training_pass_rate',
    type: 'gauge',
    unit: 'ratio',
    help: 'Share of the last step’s runs that had the full reward.',
    absentAtFirst: true,
  },
  trainingSpread: {
    name: 'troupe_training_group_spread',
    type: 'gauge',
    unit: 'reward',
    help: 'Mean over the last step’s groups of the standard deviation of their rewards.',
    absentAtFirst: true,
  },
  policyVersion: {
    name: 'troupe_training_policy_version',
    type: 'gauge',
    unit: 'optimiser steps',
    help: 'Optimiser steps of the policy that is served, as its service counts them.',
    absentAtFirst: true,
  },
  trainingStepSeconds: {
    name: 'troupe_training_step_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long steps took: their rollouts, the training calls, and the whole, which is less than their sum where they overlap.',
    labels: ['part'],
    buckets: SECONDS,
  },
  trainingChunks: {
    name: 'troupe_training_chunks_total',
    type: 'counter',
    unit: 'chunks',
    help: 'Training calls that ended: trained or failed.',
    labels: ['status'],
  },
  trainingChunkSeconds: {
    name: 'troupe_training_chunk_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long training calls took, failed ones too.',
    buckets: SECONDS,
  },
  trainingDatums: {
    name: 'troupe_training_datums_total',
    type: 'counter',
    unit: 'samples',
    help: 'Samples, one a turn, that were trained on.',
  },
  trainingTokens: {
    name: 'troupe_training_tokens_total',
    type: 'counter',
    unit: 'tokens',
    help: 'Output tokens of the runs of steps that ended.',
  },
  evaluationPassRate: {
    name: 'troupe_evaluation_pass_rate',
    type: 'gauge',
    unit: 'ratio',
    help: 'Share of the last evaluation’s runs that had the full reward, by split.',
    labels: ['split'],
  },
  problems: {
    name: 'troupe_problems_total',
    type: 'counter',
    unit: 'problems',
    help: 'What the engine had to say unasked: of sandboxes, actors, dead letters, training, reports.',
    labels: ['kind'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>
