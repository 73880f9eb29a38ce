/** Measures all rounds in a process of its own, threaded and clustered taking turns. Prints one line of JSON. */
import { join } from 'node:path'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { type NoopConfig, rollOutNoops } from '../engine/noop-round.ts'
import { WORKS, type WorkName } from '../metrics/work.ts'
import { startCountedNats } from './nats.ts'
import { measureRound, type Round } from './overhead-round.ts'
import { startWorker } from './worker.ts'

export interface OverheadCase {
  readonly turns: number
  /** In a round, at least. */
  readonly rollouts: number
  /** Rollouts of each kind before the first turn, in rounds: code is compiled by then. */
  readonly warmUps: readonly number[]
  readonly width: number
  readonly threads: number
  readonly work: WorkName
  /** Of no-ops: one that does not wait measures the engine alone. */
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

const given: OverheadCase = JSON.parse(process.argv[2] ?? '{}')
const { turns, rollouts, warmUps, width, threads, agent } = given
const { environment, rollOut: rollOutWork } = WORKS[given.work]
const isNoop = given.work === 'noop'
const rollOut = isNoop ? (job: Job, name: string, count: number) => rollOutNoops(job, name, count, agent) : rollOutWork
/** Without the waits. */
const warmUp = isNoop ? rollOutNoops : rollOut
const { directory, remove } = await makeBenchDirectory()
const nats = await startCountedNats()
try {
  const worker = await startWorker(nats.url, ['--threads', `${threads}`, '--max-concurrent', `${width}`])
  const measured: Turn[] = []
  const jobs = { threaded: await startJob('threaded'), clustered: await startJob('clustered') }
  const kinds = ['threaded', 'clustered'] as const
  try {
    for (const [at, count] of warmUps.entries())
      for (const kind of kinds) await warmUp(jobs[kind], `warm-up-${at}`, count)
    for (let at = 0; at < turns; at += 1) {
      const rounds = new Map<Kind, Round>()
      for (const kind of ORDERS[at % ORDERS.length] ?? [])
        rounds.set(
          kind,
          await measureRound({ roll: () => rollOut(jobs[kind], `turn-${at}`, rollouts), workerPid: worker.pid, nats }),
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
    runtime: new LocalRuntime(environment),
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
            runtime: { arguments: {}, environment, rowsNameImages: false },
          },
        }),
  })
}

function of(rounds: ReadonlyMap<Kind, Round>, kind: Kind): Round {
  const round = rounds.get(kind)
  if (round === undefined) throw new Error(`no round ${kind}`)
  return round
}
