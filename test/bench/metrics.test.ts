import * as assert from 'uvu/assert'
import { measureRound } from '../../bench/metrics/round.ts'
import { startScraper } from '../../bench/metrics/scraper.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench metrics')
const SLOW = { deadlineMs: 60_000 }

test(
  'a watched round writes an event for all that happened, an unwatched one none',
  async () => {
    const scraper = startScraper()
    try {
      const watched = await measureRound(64, scraper, 0)
      // Runs, groups, and both ends of the engine; a sample of the pool every five seconds.
      assert.ok(watched.events >= 64 + 8 + 2, String(watched.events))
      const unwatched = await measureRound(64, undefined, 0)
      assert.equal([unwatched.scrapes, unwatched.events], [0, 0])
      for (const { perSecond, cpuMs } of [watched, unwatched]) assert.ok(perSecond > 0 && cpuMs > 0)
    } finally {
      await scraper.close()
    }
  },
  SLOW,
)

test.run()
