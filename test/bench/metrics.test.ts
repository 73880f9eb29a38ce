import * as assert from 'uvu/assert'
import { measureRound } from '../../bench/metrics/round.ts'
import { startScraper } from '../../bench/metrics/scraper.ts'
import { startSink } from '../../bench/metrics/sink.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench metrics')
const SLOW = { deadlineMs: 60_000 }

test(
  'a watched round writes an event for all that happened, a traced one spans too, an unwatched one nothing',
  async () => {
    const watchers = { scraper: startScraper(), sink: await startSink() }
    try {
      const rounds = []
      for (const how of ['off', 'metrics', 'traces'] as const) rounds.push(await measureRound(how, 64, watchers, 0))
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

test.run()
