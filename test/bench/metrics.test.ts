import * as assert from 'uvu/assert'
import { measureRound } from '../../bench/metrics/round.ts'
import { startScraper } from '../../bench/metrics/scraper.ts'
import { startSink } from '../../bench/metrics/sink.ts'
import { WORKS } from '../../bench/metrics/work.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench metrics')
const SLOW = { deadlineMs: 60_000 }

test(
  'a watched round writes an event for all that happened, a traced one spans too, an unwatched one nothing',
  async () => {
    const watchers = { scraper: startScraper(), sink: await startSink() }
    try {
      const work = { ...WORKS.noop, warmUps: [] }
      const rounds = []
      for (const how of ['off', 'metrics', 'traces'] as const) rounds.push(await measureRound(how, work, 64, watchers))
      const [off, metrics, traces] = rounds
      assert.equal([off?.scrapes, off?.events, off?.spans, metrics?.spans], [0, 0, 0, 0])
      // Runs, groups, and both ends of the engine; a sample of the pool every five seconds.
      for (const round of [metrics, traces]) assert.ok((round?.events ?? 0) >= 64 + 8 + 2, String(round?.events))
      // The rollout, its six phases, ten turns, and four requests at the environment's server.
      assert.is(traces?.spans, 64 * (1 + 6 + 10 + 4))
      for (const { perSecond, cpuMs } of rounds) assert.ok(perSecond > 0 && cpuMs > 0)
    } finally {
      await watchers.scraper.close()
      await watchers.sink.close()
    }
  },
  SLOW,
)

test(
  'what calc rollouts cost is measured too, a sandbox and a grade each',
  async () => {
    const watchers = { scraper: startScraper(), sink: await startSink() }
    try {
      const round = await measureRound('traces', { ...WORKS.calc, warmUps: [] }, 8, watchers)
      assert.ok(round.perSecond > 0 && round.cpuMs > 0)
      // The rollout and its six phases at least.
      assert.ok(round.spans >= 8 * 7, String(round.spans))
    } finally {
      await watchers.scraper.close()
      await watchers.sink.close()
    }
  },
  SLOW,
)

test.run()
