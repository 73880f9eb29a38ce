import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { systemClock } from '../../src/clock.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { openAppendFile } from '../../src/telemetry/events/append-file.ts'
import { makeEventLog } from '../../src/telemetry/events/event-log.ts'
import { recordEvents } from '../../src/telemetry/events/record-events.ts'
import { createMetrics } from '../../src/telemetry/metrics/create-metrics.ts'
import { openMetricsEndpoint } from '../../src/telemetry/metrics/endpoint.ts'
import { makeBenchDirectory } from '../directory.ts'
import type { Scraper } from './scraper.ts'

/** One round: a job of its own, and what it cost. */
export interface Round {
  readonly perSecond: number
  /** CPU ms a rollout of the engine's process. */
  readonly cpuMs: number
  /** Of the measured part. */
  readonly scrapes: number
  /** Lines of the event file, those of the warm-up too. */
  readonly events: number
}

const GROUP = 8
const WIDTH = 256
/** Rounds before the one that is measured. */
const WARM_UPS = 4
const WARM_UP_ROLLOUTS = 512
const environment = fileURLToPath(new URL('../engine/noop-env.js', import.meta.url))
const agent = createAgent(fileURLToPath(new URL('../engine/noop-agent.js', import.meta.url)), { waitMs: 0 })

/** Rollouts through the real engine, journal and all, watched by `scraper` and an event file, or by nobody. */
export async function measureRound(
  rollouts: number,
  scraper: Scraper | undefined,
  warmUps: number = WARM_UPS,
): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(environment, { transport: 'tcp' }),
    journal: join(directory, 'journal'),
    keepGroups: false,
    maxConcurrent: WIDTH,
  })
  try {
    const watched = scraper === undefined ? undefined : await watch(job, join(directory, 'events.jsonl'), scraper)
    for (let at = 0; at < warmUps; at += 1) await rollOut(job, `warm-up-${at}`, WARM_UP_ROLLOUTS)
    const scrapesBefore = (await watched?.scrapes()) ?? 0
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    const done = await rollOut(job, 'measured', rollouts)
    const wallMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpuBefore)
    const scrapes = ((await watched?.scrapes()) ?? 0) - scrapesBefore
    await job.close()
    const events = (await watched?.end()) ?? 0
    return { perSecond: (done / wallMs) * 1_000, cpuMs: (user + system) / 1_000 / done, scrapes, events }
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

/** Just what `--metrics` and `--events` open. */
async function watch(job: Job, path: string, scraper: Scraper) {
  const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 })
  const metrics = await createMetrics(job)
  endpoint.show(metrics)
  const log = makeEventLog({
    file: await openAppendFile(path),
    job: job.jobId,
    clock: systemClock,
    // What is missing is counted, and thrown at the end.
    onFailed: () => {},
    onLate: () => {},
  })
  const stop = recordEvents(job, log, systemClock)
  await scraper.begin(endpoint.url)
  return {
    scrapes: () => scraper.count(),
    async end(): Promise<number> {
      await scraper.end()
      stop()
      await log.close()
      metrics.close()
      await endpoint.close()
      if (log.dropped > 0) throw new Error(`${log.dropped} events were dropped`)
      return readFileSync(path, 'utf8').split('\n').length - 1
    },
  }
}
