/** Many rollouts that wait, on workers of this machine. Prints one line of JSON. */
import { join } from 'node:path'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { GROUP, NOOP_ENVIRONMENT, type NoopConfig, rollOutNoops } from '../engine/noop-round.ts'
import { cpuMsOf, ownBytesOf } from '../engine/proc-stat.ts'
import { treeOf } from '../peers/process-tree.ts'
import { startCountedNats } from './nats.ts'
import { startWorker } from './worker.ts'

export interface ScaleCase {
  readonly workers: number
  readonly rollouts: number
  readonly agent: NoopConfig
}

/** What is running: of each its own memory and CPU. */
export type Part = 'coordinator' | 'workers' | 'hosts' | 'nats'

export interface ScaleFigures {
  readonly rollouts: number
  /** Most agents that were at work at the same time: as the workers tell when they are asked, twice a second. */
  readonly mostAtOnce: number
  /** From the start until so many were. */
  readonly reachedMs: number
  readonly wallMs: number
  /** The most that one process of the kind has had: memory that is its own, without pages of files that it has mapped. */
  readonly peakBytes: Readonly<Record<Part, number>>
  /** Of all processes of the kind. */
  readonly cpuMs: Readonly<Record<Part, number>>
  readonly messages: number
  readonly bytes: number
}

const THREADS = 1
const LOOK_MS = 500
const DEADLINE_MS = 900_000

const { workers: count, rollouts, agent }: ScaleCase = JSON.parse(process.argv[2] ?? '{}')
const { directory, remove } = await makeBenchDirectory()
const counted = await startCountedNats()
try {
  const width = Math.ceil(rollouts / count / GROUP) * GROUP
  const workers = await Promise.all(
    Array.from({ length: count }, () =>
      startWorker(counted.url, ['--threads', `${THREADS}`, '--max-concurrent', `${width}`]),
    ),
  )
  const job = await Job.start('scale', {
    runtime: new LocalRuntime(NOOP_ENVIRONMENT),
    journal: join(directory, 'journal'),
    keepGroups: false,
    maxConcurrent: rollouts,
    deadlines: { agent: DEADLINE_MS, rollout: DEADLINE_MS },
    cluster: {
      nats: counted.url,
      runtime: { arguments: {}, environment: NOOP_ENVIRONMENT, rowsNameImages: false },
    },
  })
  try {
    const pids = { workers: workers.map(({ pid }) => pid), nats: counted.pid }
    console.log(JSON.stringify(await watch(job, pids)))
  } finally {
    await job.close()
    await Promise.all(workers.map(worker => worker.end()))
  }
} finally {
  await counted.nats.close()
  remove()
}

async function watch(job: Job, pids: Pids): Promise<ScaleFigures> {
  const peakBytes: Record<Part, number> = { coordinator: 0, workers: 0, hosts: 0, nats: 0 }
  const before = { traffic: await counted.traffic(), cpuMs: cpuOf(pids), at: performance.now() }
  let mostAtOnce = 0
  let reachedMs = 0
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      for (const [part, of] of Object.entries(partsOf(pids)) as [Part, readonly number[]][])
        peakBytes[part] = Math.max(peakBytes[part], ...of.map(ownBytesOf))
      const { phases } = await job.live(1)
      const now = phases.agent ?? 0
      if (now > mostAtOnce) reachedMs = performance.now() - before.at
      mostAtOnce = Math.max(mostAtOnce, now)
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    }
  })()
  const done = await rollOutNoops(job, 'scale', rollouts, agent)
  const wallMs = performance.now() - before.at
  isOver = true
  await looking
  const traffic = await counted.traffic()
  const cpuMs = cpuOf(pids)
  return {
    rollouts: done,
    mostAtOnce,
    reachedMs,
    wallMs,
    peakBytes,
    cpuMs: {
      coordinator: cpuMs.coordinator - before.cpuMs.coordinator,
      workers: cpuMs.workers - before.cpuMs.workers,
      hosts: cpuMs.hosts - before.cpuMs.hosts,
      nats: cpuMs.nats - before.cpuMs.nats,
    },
    messages: traffic.messages - before.traffic.messages,
    bytes: traffic.bytes - before.traffic.bytes,
  }
}

interface Pids {
  readonly workers: readonly number[]
  readonly nats: number
}

/** Hosts are what is below all of them; the shells that hold workers and server do nothing. */
function partsOf({ workers, nats }: Pids): Readonly<Record<Part, readonly number[]>> {
  const known = new Set([process.pid, nats, ...workers])
  return {
    coordinator: [process.pid],
    workers,
    hosts: treeOf(process.pid).filter(pid => !known.has(pid)),
    nats: [nats],
  }
}

function cpuOf(pids: Pids): Readonly<Record<Part, number>> {
  const parts = partsOf(pids)
  const sum = (of: readonly number[]) => of.reduce((total, pid) => total + cpuMsOf(pid), 0)
  return {
    coordinator: sum(parts.coordinator),
    workers: sum(parts.workers),
    hosts: sum(parts.hosts),
    nats: sum(parts.nats),
  }
}
