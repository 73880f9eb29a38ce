import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { openFeed } from '../../src/feed/open-feed.ts'
import { openFeedSocket } from '../../src/feed/socket.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { makeBenchDirectory } from '../directory.ts'
import type { Reader } from './reader.ts'

/** Without a feed, with one that nobody watches, with one that somebody does. */
export const KINDS = ['without', 'unwatched', 'watched'] as const
export type Kind = (typeof KINDS)[number]

/** One round: a job of its own, and what it cost. */
export interface Round {
  readonly perSecond: number
  /** CPU ms a rollout of the engine's process. */
  readonly cpuMs: number
  /** Read while it was measured. */
  readonly ticks: number
}

const GROUP = 8
const WARM_UPS = 2
const environment = fileURLToPath(new URL('../engine/noop-env.js', import.meta.url))
const agent = createAgent(fileURLToPath(new URL('../engine/noop-agent.js', import.meta.url)), { waitMs: 0 })

/** Rollouts through the real engine, journal and all. */
export async function measureRound(kind: Kind, width: number, rollouts: number, reader: Reader): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const journal = join(directory, 'journal')
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(environment, { transport: 'tcp' }),
    journal,
    keepGroups: false,
    maxConcurrent: width,
  })
  const feed = kind === 'without' ? undefined : openFeed(job)
  const socket = feed === undefined ? undefined : await openFeedSocket(feed, journal)
  try {
    for (let at = 0; at < WARM_UPS; at += 1) await rollOut(job, `warm-up-${at}`, width)
    if (socket !== undefined && kind === 'watched') await reader.begin(socket.path)
    const before = await reader.count()
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    const done = await rollOut(job, 'measured', rollouts)
    const wallMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpuBefore)
    const ticks = (await reader.count()) - before
    return { perSecond: (done / wallMs) * 1_000, cpuMs: (user + system) / 1_000 / done, ticks }
  } finally {
    if (kind === 'watched') await reader.end()
    await socket?.close()
    await feed?.close()
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
