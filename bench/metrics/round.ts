import { join } from 'node:path'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { measureRollouts, type RolloutFigures } from '../engine/noop-round.ts'
import { type Watch, type Watchers, watch } from './watchers.ts'
import type { Work } from './work.ts'

/** One round: a job of its own, and what it cost. */
export interface Round extends RolloutFigures {
  /** Of the measured part. */
  readonly scrapes: number
  /** Lines of the event file, those of the warm-up too. */
  readonly events: number
  /** Spans that were received, those of the warm-up too. */
  readonly spans: number
}

/** Rollouts through the real engine, journal and all, watched as `how` says. */
export async function measureRound(how: Watch, work: Work, rollouts: number, watchers: Watchers): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(work.environment, {
      transport: 'tcp',
      ...(how === 'traces' ? { traces: watchers.sink.url } : {}),
    }),
    journal: join(directory, 'journal'),
    keepGroups: false,
    maxConcurrent: work.width,
  })
  try {
    const watched = how === 'off' ? undefined : await watch(job, how, join(directory, 'events.jsonl'), watchers)
    for (const [at, count] of work.warmUps.entries()) await work.rollOut(job, `warm-up-${at}`, count)
    const scrapesBefore = (await watched?.scrapes()) ?? 0
    const figures = await measureRollouts(() => work.rollOut(job, 'measured', rollouts))
    const scrapes = ((await watched?.scrapes()) ?? 0) - scrapesBefore
    await job.close()
    const { events, spans } = (await watched?.end()) ?? { events: 0, spans: 0 }
    return { ...figures, scrapes, events, spans }
  } finally {
    await job.close()
    remove()
  }
}
