import type { Deadlines, PoolOptions } from '../../src/job/options.ts'
import { makeRandom, mixSeed } from '../../src/random.ts'
import type { GroupStrategy } from '../../src/rollout/group.ts'
import type { Rate } from '../../src/runtimes/token-bucket.ts'
import type { ChunkOptions } from '../../src/stream/chunk-options.ts'
import type { Pace } from './node.ts'

/** What can go wrong at the provider, as shares of calls, and how long things take there on average. */
export interface ProviderFaults {
  readonly canFork: boolean
  readonly hasPool: boolean
  readonly rate: Rate | undefined
  readonly diagnoses: boolean
  readonly createMs: number
  readonly deleteMs: number
  readonly lifeMs: number
  readonly failedCreates: number
  readonly limitedCreates: number
  readonly hungCreates: number
  readonly deafCreates: number
  readonly noForks: number
  readonly failedDeletes: number
  readonly hungDeletes: number
  readonly undead: number
  readonly deaths: number
}

/** The same for environments, agents and the journal. */
export interface RolloutFaults {
  readonly callMs: number
  readonly agentMs: number
  readonly journalMs: number
  readonly lostCalls: number
  readonly failedCalls: number
  readonly hungCalls: number
  readonly failedAgents: number
  readonly hungAgents: number
  readonly lostModels: number
  readonly badGrades: number
  readonly failedWrites: number
  readonly failedLoads: number
  /** Trajectories too large to be copied: they change hands. */
  readonly large: number
}

export interface ThreadFault {
  readonly atMs: number
  readonly type: 'die' | 'hang' | 'stall'
  readonly forMs: number
}

export interface Scenario {
  readonly seed: number
  readonly groups: number
  readonly size: number
  readonly strategy: GroupStrategy
  readonly maxConcurrent: number
  readonly retries: number
  readonly deadGroupLimit: number
  readonly maxWaitingBytes: number
  readonly deadlines: Deadlines
  readonly pool: PoolOptions & { readonly maxSandboxes: number }
  readonly provider: ProviderFaults
  readonly rollouts: RolloutFaults
  readonly threads: number
  readonly pace: Pace
  readonly linkMs: number
  readonly faults: readonly ThreadFault[]
  /** Losses after which no thread comes back. */
  readonly lastThread: number
  /** Every message takes the codec, those within the main thread too. */
  readonly encodes: boolean
  readonly hasJournal: boolean
  /** Share of members that an earlier process left in the journal. */
  readonly durable: number
  readonly cancelAtMs: number | undefined
  /** After a cancel, the same groups again. */
  readonly runsAgain: boolean
  readonly consumer: {
    readonly type: 'chunks' | 'iterator'
    readonly workMs: number
    readonly concurrency: number
    /** Chunks after which it wants no more. */
    readonly leavesAfter: number
  }
  readonly chunks: Pick<ChunkOptions, 'maxTrajectories' | 'dropWithoutSpread' | 'order'>
}

/** The run that a seed stands for. Each kind of fault is there in some seeds only, so that each is also seen alone. */
export function drawScenario(seed: number): Scenario {
  const random = makeRandom(mixSeed(seed, 0))
  const chance = (share: number) => random() < share
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const oneOf = <Item>(first: Item, ...others: Item[]): Item => others[whole(0, others.length) - 1] ?? first
  /** Absent in most seeds. */
  const share = (most: number, presence = 0.3) => (chance(presence) ? random() * most : 0)

  const groups = whole(1, 6)
  const size = whole(1, 4)
  const maxConcurrent = whole(1, groups * size)
  const pool = drawPool()
  return {
    seed,
    groups,
    size,
    strategy: oneOf<GroupStrategy>(
      { type: 'complete' },
      { type: 'drop' },
      { type: 'minimum', members: whole(1, size) },
    ),
    maxConcurrent,
    retries: whole(0, 2),
    deadGroupLimit: oneOf(2, 3, 8, 100),
    maxWaitingBytes: oneOf(1, 2_000, 10_000_000),
    deadlines: {
      provisioning: oneOf(10_000, 60_000, 600_000),
      connecting: oneOf(5_000, 20_000),
      starting: oneOf(3_000, 20_000),
      agent: oneOf(5_000, 60_000),
      grading: oneOf(5_000, 30_000),
      // No task of these has a verifier; drawing one would give every known seed another run.
      verifying: 30_000,
      cleanup: oneOf(1_000, 15_000),
      rollout: oneOf(30_000, 600_000),
    },
    pool,
    provider: drawProvider(),
    rollouts: drawRollouts(),
    threads: whole(1, 3),
    pace: { lateShare: oneOf(0, 0.1, 0.5), lateMs: oneOf(0.3, 5, 100) },
    linkMs: oneOf(0.05, 1, 30, 500),
    faults: Array.from({ length: oneOf(0, 0, 1, 2, 5) }, () => ({
      atMs: random() * oneOf(1_000, 20_000, 100_000),
      type: oneOf<ThreadFault['type']>('die', 'die', 'hang', 'stall'),
      forMs: random() * 8_000,
    })),
    lastThread: chance(0.1) ? whole(1, 3) : Number.POSITIVE_INFINITY,
    encodes: chance(0.3),
    hasJournal: chance(0.6),
    durable: share(0.6, 0.2),
    cancelAtMs: chance(0.25) ? random() * oneOf(1_000, 10_000, 60_000) : undefined,
    runsAgain: chance(0.8),
    consumer: {
      type: oneOf('chunks', 'chunks', 'iterator'),
      workMs: oneOf(0, 100, 10_000),
      concurrency: whole(1, 2),
      leavesAfter: chance(0.1) ? whole(1, 3) : Number.POSITIVE_INFINITY,
    },
    chunks: {
      maxTrajectories: whole(size, 3 * size),
      dropWithoutSpread: chance(0.2),
      order: oneOf('completion', 'planned'),
    },
  }

  function drawPool(): Scenario['pool'] {
    const parents = whole(1, 3)
    const source = oneOf<PoolOptions['source']>(
      { type: 'create' },
      { type: 'create' },
      { type: 'fork', parents },
      { type: 'auto' },
      { type: 'provider-pool', size: whole(1, 4) },
    )
    const least = source?.type === 'fork' ? parents + 1 : 1
    return {
      strategy: oneOf('cold', 'prewarm'),
      size: oneOf<number | 'auto'>('auto', whole(0, 6)),
      ...(source === undefined ? {} : { source }),
      maxSandboxes: whole(least, least + maxConcurrent + 3),
      wave: whole(1, 8),
    }
  }

  function drawProvider(): ProviderFaults {
    const type = pool.source?.type
    return {
      canFork: type === 'fork' || (type === 'auto' && chance(0.7)),
      hasPool: type === 'provider-pool',
      rate: chance(0.2) ? { perSecond: oneOf(0.5, 5), burst: whole(1, 3) } : undefined,
      diagnoses: chance(0.5),
      createMs: oneOf(50, 1_000, 10_000),
      deleteMs: oneOf(20, 1_000),
      lifeMs: oneOf(500, 10_000),
      failedCreates: share(0.5),
      limitedCreates: share(0.3, 0.2),
      hungCreates: share(0.2, 0.2),
      deafCreates: share(0.1, 0.1),
      noForks: share(0.2, 0.2),
      failedDeletes: share(0.5),
      hungDeletes: share(0.2, 0.2),
      undead: share(0.1, 0.1),
      deaths: share(0.5),
    }
  }

  function drawRollouts(): RolloutFaults {
    return {
      callMs: oneOf(5, 300, 2_000),
      agentMs: oneOf(100, 3_000, 20_000),
      journalMs: oneOf(1, 50, 1_000),
      lostCalls: share(0.2),
      failedCalls: share(0.2),
      hungCalls: share(0.1, 0.2),
      failedAgents: share(0.4),
      hungAgents: share(0.2, 0.2),
      lostModels: share(0.3, 0.2),
      badGrades: share(0.3, 0.2),
      failedWrites: share(0.1, 0.1),
      failedLoads: share(0.1, 0.05),
      large: share(0.5, 0.2),
    }
  }
}
