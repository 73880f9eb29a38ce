/** Measures all rounds in a process of its own, the kinds taking turns. Prints one line of JSON. */
import { measureRound, type Round } from './round.ts'
import { startScraper } from './scraper.ts'
import { startSink } from './sink.ts'
import type { Watch } from './watchers.ts'
import { WORKS, type WorkName } from './work.ts'

/** What is asked of this process. */
export interface Shape {
  readonly work: WorkName
  readonly turns: number
  /** A round. */
  readonly rollouts: number
}

/** One round of each kind, next to each other. */
export type Turn = Readonly<Record<Watch, Round>>

/** Whichever comes later finds the machine as the others left it: each is in each place equally often, and next to each other one. */
const ORDERS: readonly (readonly [Watch, Watch, Watch])[] = [
  ['off', 'metrics', 'traces'],
  ['traces', 'off', 'metrics'],
  ['metrics', 'traces', 'off'],
  ['traces', 'metrics', 'off'],
  ['off', 'traces', 'metrics'],
  ['metrics', 'off', 'traces'],
]

const shape: Shape = JSON.parse(process.argv[2] ?? '{}')
const { turns: wanted, rollouts } = shape
const work = WORKS[shape.work]
const watchers = { scraper: startScraper(), sink: await startSink() }
const turns: Turn[] = []
try {
  // Those are not counted, in which code is compiled.
  for (const how of ['off', 'traces'] as const) await measureRound(how, work, Math.ceil(rollouts / 4), watchers)
  for (let at = 0; at < wanted; at += 1) {
    const rounds = new Map<Watch, Round>()
    for (const how of ORDERS[at % ORDERS.length] ?? [])
      rounds.set(how, await measureRound(how, work, rollouts, watchers))
    turns.push({ off: of(rounds, 'off'), metrics: of(rounds, 'metrics'), traces: of(rounds, 'traces') })
  }
} finally {
  await watchers.scraper.close()
  await watchers.sink.close()
}
console.log(JSON.stringify(turns))

function of(rounds: ReadonlyMap<Watch, Round>, how: Watch): Round {
  const round = rounds.get(how)
  if (round === undefined) throw new Error(`no round ${how}`)
  return round
}
