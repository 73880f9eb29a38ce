import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { makeBenchDirectory } from '../directory.ts'
import { type Watch, type Watchers, watch } from './watchers.ts'

/** One round: a job of its own, and what it cost. */
export interface Round {
  readonly perSecond: number
  /** CPU ms a rollout of the engine's process, all its threads. */
  readonly cpuMs: number
  /** Of the measured part. */
  readonly scrapes: number
  /** Lines of the event file, those of the warm-up too. */
  readonly events: number
  /** Spans that were received, those of the warm-up too. */
  readonly spans: number
}

const GROUP = 8
const WIDTH = 256
/** Rounds before the one that is measured. */
const WARM_UPS = 4
const WARM_UP_ROLLOUTS = 512
const environment = fileURLToPath(new URL('../engine/noop-env.js', import.meta.url))
const agent = createAgent(fileURLToPath(new URL('../engine/noop-agent.js', import.meta.url)), { waitMs: 0 })

/** Rollouts through the real engine, journal and all, watched as `how` says. */
export async function measureRound(
  how: Watch,
  rollouts: number,
  watchers: Watchers,
  warmUps: number = WARM_UPS,
): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(environment, {
      transport: 'tcp',
      ...(how === 'traces' ? { traces: watchers.sink.url } : {}),
    }),
    journal: join(directory, 'journal'),
    keepGroups: false,
    maxConcurrent: WIDTH,
  })
  try {
    const watched = how === 'off' ? undefined : await watch(job, how, join(directory, 'events.jsonl'), watchers)
    for (let at = 0; at < warmUps; at += 1) await rollOut(job, `warm-up-${at}`, WARM_UP_ROLLOUTS)
    const scrapesBefore = (await watched?.scrapes()) ?? 0
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    const done = await rollOut(job, 'measured', rollouts)
    const wallMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpuBefore)
    const scrapes = ((await watched?.scrapes()) ?? 0) - scrapesBefore
    await job.close()
    const { events, spans } = (await watched?.end()) ?? { events: 0, spans: 0 }
    return { perSecond: (done / wallMs) * 1_000, cpuMs: (user + system) / 1_000 / done, scrapes, events, spans }
  } finally {
    await job.close()
    remove()
  }
}

async function rollOut(job: Job, name: string, rollouts: number): Promise<number> {
  const rows = Array.from({ length: Math.ceil(rollouts / GROUP) }, (_, index) => ({
    env: 'noop',
    id: 'noop',
    args: {},
    slug: `${name}-${index}`,
  }))
  for await (const { runs } of job.stream(new Taskset(name, rows), agent, { group: GROUP }))
    for (const run of runs) if (run.reward !== 1) throw new Error(`a no-op run failed: ${JSON.stringify(run.error)}`)
  return rows.length * GROUP
}
