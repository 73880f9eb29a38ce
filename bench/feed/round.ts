import { join } from 'node:path'
import { openFeed } from '../../src/feed/open-feed.ts'
import { openFeedSocket } from '../../src/feed/socket.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { measureRollouts, NOOP_ENVIRONMENT, type RolloutFigures, rollOutNoops } from '../engine/noop-round.ts'
import type { Reader } from './reader.ts'

/** Without a feed, with one that nobody watches, with one that somebody does. */
export const KINDS = ['without', 'unwatched', 'watched'] as const
export type Kind = (typeof KINDS)[number]

/** One round: a job of its own, and what it cost. */
export interface Round extends RolloutFigures {
  /** Read while it was measured. */
  readonly ticks: number
}

const WARM_UPS = 2

/** Rollouts through the real engine, journal and all. */
export async function measureRound(kind: Kind, width: number, rollouts: number, reader: Reader): Promise<Round> {
  const { directory, remove } = await makeBenchDirectory()
  const journal = join(directory, 'journal')
  const job = await Job.start('bench', {
    runtime: new LocalRuntime(NOOP_ENVIRONMENT, { transport: 'tcp' }),
    journal,
    keepGroups: false,
    maxConcurrent: width,
  })
  const feed = kind === 'without' ? undefined : openFeed(job)
  const socket = feed === undefined ? undefined : await openFeedSocket(feed, journal)
  try {
    for (let at = 0; at < WARM_UPS; at += 1) await rollOutNoops(job, `warm-up-${at}`, width)
    if (socket !== undefined && kind === 'watched') await reader.begin(socket.path)
    const before = await reader.count()
    const figures = await measureRollouts(() => rollOutNoops(job, 'measured', rollouts))
    const ticks = (await reader.count()) - before
    return { ...figures, ticks }
  } finally {
    if (kind === 'watched') await reader.end()
    await socket?.close()
    await feed?.close()
    await job.close()
    remove()
  }
}
