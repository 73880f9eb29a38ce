/** One soak in a process of its own, so that what it holds is the engine's alone: `<SoakCase as JSON>`. Prints `SoakFigures` as one line of JSON. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { sleep, systemClock } from '../../src/clock.ts'
import { Job } from '../../src/job/job.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { deriveSeed, makeRandom } from '../../src/random.ts'
import type { Outcome } from '../../src/rollout/run.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { makeBenchDirectory } from '../directory.ts'
import { childrenOf } from '../engine/proc-stat.ts'
import { type Sample, takeSample } from './sample.ts'
import { hearHeaps } from './thread-heaps.ts'

export interface SoakCase {
  readonly rollouts: number
  readonly width: number
  readonly seed: number
  readonly sampleEvery: number
  /** Rollouts between two deaths of the environment host, on average. */
  readonly hostKillEvery: number
}

export interface SoakFigures {
  readonly planned: number
  readonly delivered: number
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
  /** Graded runs without a reward, and runs with one that nobody graded. */
  readonly wrongRewards: number
  readonly durable: number
  readonly hostKills: number
  readonly samples: readonly Sample[]
  /** Processes, files in the temporary directory, and handles and descriptors beyond those before the job, once it was closed. */
  readonly left: readonly string[]
}

const GROUP = 8
const ROUND = 1_024
const DEADLINE_MS = 5_000
const environment = fileURLToPath(new URL('./env.js', import.meta.url))
const agentFile = fileURLToPath(new URL('./agent.js', import.meta.url))

const soakCase: SoakCase = JSON.parse(process.argv[2] ?? '{}')
const { directory, remove } = await makeBenchDirectory()
try {
  const figures = await soak(soakCase, directory)
  process.stdout.write(`${JSON.stringify(figures)}\n`)
} finally {
  remove()
}

async function soak({ rollouts, width, seed, sampleEvery, hostKillEvery }: SoakCase, directory: string) {
  const temporary = join(directory, 't')
  mkdirSync(temporary, { mode: 0o711 })
  process.env.TMPDIR = temporary
  const journal = join(directory, 'journal')
  // What is made once and stays is there before the first look: streams, and the descriptor that a loop with streams keeps in reserve.
  void [process.stdout, process.stderr]
  const heaps = hearHeaps()
  const before = takeSample(0, 0)
  const runtime = new LocalRuntime(environment, { restarts: Number.MAX_SAFE_INTEGER })
  const job = await Job.start('soak', { journal, seed, keepGroups: false, runtime, maxConcurrent: width })
  const agent = createAgent(agentFile)
  const random = makeRandom(deriveSeed(seed, 'hosts'))
  const nextKill = () => hostKillEvery * (0.5 + random())
  const samples: Sample[] = [takeSample(0, heaps.bytes())]
  const outcomes: Partial<Record<Outcome, number>> = {}
  let planned = 0
  let delivered = 0
  let wrongRewards = 0
  let hostKills = 0
  let killAt = nextKill()

  function ended(outcome: Outcome, reward: number | null): void {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    // What an agent left that threw is graded where it can be.
    const isWrong = outcome === 'graded' ? reward === null : outcome !== 'agent-error' && reward !== null
    if (isWrong) wrongRewards += 1
    delivered += 1
    if (delivered % sampleEvery === 0) samples.push(takeSample(delivered, heaps.bytes()))
    if (delivered < killAt) return
    killAt += nextKill()
    hostKills += killHost()
  }

  /** A round begins when the one before has less left than are in flight, so that the width is there all along. */
  async function round(number: number, size: number, onLow: () => void): Promise<void> {
    const rows = Array.from({ length: Math.ceil(size / GROUP) }, (_, place) => {
      return { env: 'soak', id: 'soak', args: {}, slug: `round-${number}-${place}` }
    })
    planned += rows.length * GROUP
    let left = rows.length * GROUP
    const stream = job.stream(new Taskset('soak', rows), agent, {
      group: GROUP,
      deadlines: { agent: DEADLINE_MS, grading: DEADLINE_MS },
    })
    for await (const group of stream) {
      for (const { outcome, reward } of group.runs) ended(outcome, reward)
      left -= group.runs.length
      if (left <= width) onLow()
    }
  }

  const rounds: Promise<void>[] = []
  for (let begun = 0; begun < rollouts; begun += ROUND) {
    await new Promise<void>((resolve, reject) => {
      const running = round(rounds.length, Math.min(ROUND, rollouts - begun), resolve)
      running.then(resolve, reject)
      rounds.push(running)
    })
  }
  await Promise.all(rounds)
  const { jobId } = job
  await job.close()
  const after = await sampleAtRest(before, delivered)
  heaps.close()
  const left = [
    ...childrenOf(process.pid).map(pid => `process ${pid}`),
    ...readdirSync(temporary),
    ...(after.handles > before.handles ? [`${after.handles - before.handles} handles`] : []),
    ...(after.descriptors > before.descriptors ? [`${after.descriptors - before.descriptors} descriptors`] : []),
  ]
  const durable = await countDurable(journal, jobId)
  return { planned, delivered, outcomes, wrongRewards, durable, hostKills, samples, left } satisfies SoakFigures
}

/** Once no more is held than before, or after two seconds: pipes of hosts that were killed close when the system gets to it. */
async function sampleAtRest(before: Sample, rollouts: number): Promise<Sample> {
  for (let look = 0; look < 20; look += 1) {
    const now = takeSample(rollouts, 0)
    if (now.handles <= before.handles && now.descriptors <= before.descriptors) return now
    await sleep(systemClock, 100)
  }
  return takeSample(rollouts, 0)
}

/** Kills the environment host; how many there were. */
function killHost(): number {
  const hosts = childrenOf(process.pid).filter(pid => readTitle(pid).startsWith('troupe-environment'))
  for (const pid of hosts) process.kill(pid, 'SIGKILL')
  return hosts.length
}

function readTitle(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

async function countDurable(directory: string, jobId: Job['jobId']): Promise<number> {
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
  let count = 0
  for await (const _ of journal.runs(jobId)) count += 1
  await journal.close()
  return count
}
