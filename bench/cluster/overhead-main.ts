/** Measures all rounds in a process of its own, threaded and clustered taking turns. Prints one line of JSON. */
import { join } from 'node:path'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { NOOP_ENVIRONMENT, type NoopConfig, rollOutNoops } from '../engine/noop-round.ts'
import { startCountedNats } from './nats.ts'
import { measureRound, type Round } from './overhead-round.ts'
import { startWorker } from './worker.ts'

export interface OverheadCase {
  readonly turns: number
  /** In a round, at least. */
  readonly rollouts: number
  /** Before the first turn, of each kind: code is compiled by then. */
  readonly warmUps: number
  readonly width: number
  readonly threads: number
  /** One that does not wait measures the engine alone. */
  readonly agent: NoopConfig
}

/** One round of each, next to each other. */
export type Turn = Readonly<Record<Kind, Round>>
export type Kind = 'threaded' | 'clustered'

/** Whichever comes second finds the machine as the other left it: each is that equally often. */
const ORDERS: readonly (readonly [Kind, Kind])[] = [
  ['threaded', 'clustered'],
  ['clustered', 'threaded'],
]
const WARM_UP_ROLLOUTS = 1_024

const { turns, rollouts, warmUps, width, threads, agent }: OverheadCase = JSON.parse(process.argv[2] ?? '{}')
const { directory, remove } = await makeBenchDirectory()
const nats = await startCountedNats()
try {
  const worker = await startWorker(nats.url, ['--threads', `${threads}`, '--max-concurrent', `${width}`])
  const measured: Turn[] = []
  const jobs = { threaded: await startJob('threaded'), clustered: await startJob('clustered') }
  const kinds = ['threaded', 'clustered'] as const
  try {
    for (let at = 0; at < warmUps; at += 1)
      for (const kind of kinds) await rollOutNoops(jobs[kind], `warm-up-${at}`, WARM_UP_ROLLOUTS)
    for (let at = 0; at < turns; at += 1) {
      const rounds = new Map<Kind, Round>()
      for (const kind of ORDERS[at % ORDERS.length] ?? [])
        rounds.set(
          kind,
          await measureRound({ job: jobs[kind], name: `turn-${at}`, rollouts, agent, workerPid: worker.pid, nats }),
        )
      measured.push({ threaded: of(rounds, 'threaded'), clustered: of(rounds, 'clustered') })
    }
  } finally {
    for (const kind of kinds) await jobs[kind].close()
    await worker.end()
  }
  console.log(JSON.stringify(measured))
} finally {
  await nats.nats.close()
  remove()
}

function startJob(kind: Kind): Promise<Job> {
  return Job.start(kind, {
    runtime: new LocalRuntime(NOOP_ENVIRONMENT),
    journal: join(directory, kind),
    keepGroups: false,
    // The same waits in both.
    seed: 1,
    maxConcurrent: width,
    ...(kind === 'threaded'
      ? { threads }
      : {
          cluster: {
            nats: nats.url,
            runtime: { arguments: {}, environment: NOOP_ENVIRONMENT, rowsNameImages: false },
          },
        }),
  })
}

function of(rounds: ReadonlyMap<Kind, Round>, kind: Kind): Round {
  const round = rounds.get(kind)
  if (round === undefined) throw new Error(`no round ${kind}`)
  return round
}
