import { join } from 'node:path'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { measureNoops, NOOP_ENVIRONMENT, type NoopFigures, rollOutNoops } from '../engine/noop-round.ts'
import { type Watch, type Watchers, watch } from './watchers.ts'

/** One round: a job of its own, and what it cost. */
export interface Round extends NoopFigures {
  /** Of the measured part. */
  readonly scrapes: number
  /** Lines of the event file, those of the warm-up too. */
  readonly events: number
  /** Spans that were received, those of the warm-up too. */
  readonly spans: number
}

const WIDTH = 256
/** Rounds before the one that is measured. */
const WARM_UPS = 4
const WARM_UP_ROLLOUTS = 512

/** Rollouts through the real engine, journal and all, watched as `how` says. */
export async function measureRound(
  how: Watch,
  rollouts: number,
  watchers: Watchers,
  warmUps: number = WARM_UPS,
): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(NOOP_ENVIRONMENT, {
      transport: 'tcp',
      ...(how === 'traces' ? { traces: watchers.sink.url } : {}),
    }),
    journal: join(directory, 'journal'),
    keepGroups: false,
    maxConcurrent: WIDTH,
  })
  try {
    const watched = how === 'off' ? undefined : await watch(job, how, join(directory, 'events.jsonl'), watchers)
    for (let at = 0; at < warmUps; at += 1) await rollOutNoops(job, `warm-up-${at}`, WARM_UP_ROLLOUTS)
    const scrapesBefore = (await watched?.scrapes()) ?? 0
    const figures = await measureNoops(job, 'measured', rollouts)
    const scrapes = ((await watched?.scrapes()) ?? 0) - scrapesBefore
    await job.close()
    const { events, spans } = (await watched?.end()) ?? { events: 0, spans: 0 }
    return { ...figures, scrapes, events, spans }
  } finally {
    await job.close()
    remove()
  }
}
