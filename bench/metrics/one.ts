/** Measures all rounds in a process of its own, the two kinds taking turns. Prints one line of JSON. */
import { measureRound, type Round } from './round.ts'
import { startScraper } from './scraper.ts'

export interface Pair {
  readonly off: Round
  readonly on: Round
}

const { pairs: wanted, rollouts }: { readonly pairs: number; readonly rollouts: number } = JSON.parse(
  process.argv[2] ?? '{}',
)
const scraper = startScraper()
const pairs: Pair[] = []
try {
  // One that is not counted, in which code is compiled.
  await measureRound(Math.ceil(rollouts / 4), scraper)
  for (let at = 0; at < wanted; at += 1) {
    // Whichever comes second finds the machine as the first left it: each comes first in turn.
    if (at % 2 === 0) {
      const off = await measureRound(rollouts, undefined)
      pairs.push({ off, on: await measureRound(rollouts, scraper) })
    } else {
      const on = await measureRound(rollouts, scraper)
      pairs.push({ on, off: await measureRound(rollouts, undefined) })
    }
  }
} finally {
  await scraper.close()
}
console.log(JSON.stringify(pairs))
