import type { Given } from './given.ts'
import type { LadderArguments } from './ladder/options.ts'
import type { BenchTable } from './table.ts'

type Bench = (given: Given) => Promise<BenchTable>

export const SETTINGS = ['levels', 'repetitions', 'strategies', 'parts', 'transport', 'seed'] as const
export type Setting = (typeof SETTINGS)[number]

export interface BenchEntry {
  readonly name: string
  /** One line for `--help`. */
  readonly summary: string
  readonly load: () => Promise<Bench>
  /** What it is given when no benchmark is named; absent where it is not run then. */
  readonly inSet: { readonly full?: Partial<LadderArguments>; readonly quick?: Partial<LadderArguments> }
  /** The options that it takes beside those of all. */
  readonly settings?: readonly Setting[]
  /** Throws `bench-option` for a setting that it cannot use. */
  readonly check?: (given: LadderArguments) => Promise<unknown>
  /** Writes a receipt of its own kind to `out` when it is the only one. */
  readonly ownReceipt?: true
}

const ALWAYS = { full: {}, quick: {} }

/** In the order in which they are run: what a warm process disturbs first, what takes long last. Each file is loaded when its turn comes. */
export const BENCHES: readonly BenchEntry[] = [
  {
    name: 'kernel',
    summary: 'actors in one thread and between two, beside xstate and bare postMessage',
    load: async () => (await import('./kernel.ts')).kernelBench,
    inSet: ALWAYS,
  },
  {
    name: 'codec',
    summary: 'thread messages, control frames and trajectories as bytes, beside JSON and structured clone',
    load: async () => (await import('./codec.ts')).codecBench,
    inSet: ALWAYS,
  },
  {
    name: 'import',
    summary: 'what it costs a program to import each entry, beside an empty one',
    load: async () => (await import('./import.ts')).importBench,
    inSet: ALWAYS,
  },
  {
    name: 'wire',
    summary: 'CPU of sessions that do nothing, client and server apart',
    load: async () => (await import('./wire.ts')).wireBench,
    inSet: ALWAYS,
  },
  {
    name: 'batcher',
    summary: 'groups into chunks, beside chunks without any care',
    load: async () => (await import('./batcher.ts')).batcherBench,
    inSet: ALWAYS,
  },
  {
    name: 'journal',
    summary: 'runs of real size packed, kept and read back, beside a file that is appended to',
    load: async () => (await import('./journal.ts')).journalBench,
    inSet: ALWAYS,
  },
  {
    name: 'pool',
    summary: 'leases a second with up to 10,000 sandboxes, without a provider',
    load: async () => (await import('./pool.ts')).poolBench,
    inSet: ALWAYS,
  },
  {
    name: 'body',
    summary: 'a training request of 128 runs, and how long the loop stands still for it',
    load: async () => (await import('./body.ts')).bodyBench,
    inSet: { full: {} },
  },
  {
    name: 'engine',
    summary: 'no-op rollouts through the whole engine, beside plain Node',
    load: async () => (await import('./engine.ts')).engineBench,
    inSet: { full: {} },
  },
  {
    name: 'metrics',
    summary:
      'rollouts with metrics scraped every second, events written and traces sent, beside the same that nobody watches',
    load: async () => (await import('./metrics.ts')).metricsBench,
    inSet: {},
  },
  {
    name: 'feed',
    summary: 'rollouts whose feed is read, beside the same with a feed that nobody reads, and without one',
    load: async () => (await import('./feed.ts')).feedBench,
    inSet: {},
  },
  {
    name: 'rollouts',
    summary: 'the calc job with a sandbox and a pytest each, beside bare pytest',
    load: async () => (await import('./rollouts.ts')).rolloutsBench,
    inSet: { full: {} },
  },
  {
    name: 'overlap',
    summary: 'published rollout and training times through the loop, one after the other and streaming',
    load: async () => (await import('./overlap.ts')).overlapBench,
    inSet: {},
  },
  {
    name: 'ladder',
    summary: 'concurrency ladders against the emulator, by strategy',
    load: async () => (await import('./ladder.ts')).ladderBench,
    inSet: {
      full: { levels: '8,32,128', repetitions: '1' },
      quick: { levels: '8,32', repetitions: '1', strategies: 'cold,prewarm' },
    },
    settings: ['levels', 'repetitions', 'strategies', 'transport', 'seed'],
    check: async given => (await import('./ladder/options.ts')).parseLadderOptions(given),
    ownReceipt: true,
  },
  {
    name: 'peers',
    summary: 'the same work by actor libraries, plain Node and the published SDK, taking turns',
    load: async () => (await import('./peers.ts')).peersBench,
    inSet: { full: { parts: 'kernel,plain' }, quick: { parts: 'kernel' } },
    settings: ['levels', 'repetitions', 'parts', 'seed'],
    check: async given => (await import('./peers/options.ts')).parsePeersOptions(given),
  },
  {
    name: 'tune',
    summary: 'what the simulation says beside the engine on the emulator, for six jobs',
    load: async () => (await import('./tune.ts')).tuneBench,
    inSet: {},
  },
  {
    name: 'cluster',
    summary:
      'rollouts on workers beside the same in threads, 20,000 at once on three, and a training whose hosts and servers die',
    load: async () => (await import('./cluster.ts')).clusterBench,
    inSet: {},
    settings: ['parts'],
    check: async given => (await import('./cluster/options.ts')).parseClusterParts(given),
  },
  {
    name: 'soak',
    summary: '150,000 rollouts, 512 wide, with faults at a low rate: what grows, and whether it slows down',
    load: async () => (await import('./soak.ts')).soakBench,
    inSet: {},
    settings: ['seed'],
    check: async given => (await import('./ladder/options.ts')).parseLadderOptions(given),
  },
]
