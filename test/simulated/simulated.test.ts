import { randomInt } from 'node:crypto'
import * as assert from 'uvu/assert'
import { tellFigures } from '../support/figures.ts'
import { suite } from '../support/suite.ts'
import type { Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'
import { type Played, play } from './play.ts'

/**
 * Whole runs on a virtual clock, each decided by the number of its seed. Half of the seeds are always the same, the others begin where
 * chance says. `TROUPE_SIMULATED_SEED=123` plays that one alone and tells all that happened; `TROUPE_SIMULATED_SEEDS=20000` plays more
 * (with `TROUPE_TEST_FILE_TIMEOUT_MS` above the runner's four minutes).
 */
const only = process.env.TROUPE_SIMULATED_SEED
const count = Number(process.env.TROUPE_SIMULATED_SEEDS ?? 1_000)
/** Seeds within which a defect has to be seen. */
const ENOUGH = 300
const SHOWN_EVENTS = 60
const SHOWN_FAILURES = 3

const test = suite('simulated runs')

if (only !== undefined) {
  test(`seed ${only}`, async () => {
    const played = await play(Number(only), { traced: true })
    tellFigures(`seed ${only}: ${played.events} events, ${JSON.stringify(played.account)}`)
    assert.is(played.failure, undefined, played.failure === undefined ? '' : tell(played, Number.POSITIVE_INFINITY))
  })
} else {
  test(
    'nothing is lost, doubled, leaked or stuck, in whatever order things happen',
    async () => {
      const first = randomInt(1_000_000, 2 ** 31)
      tellFigures(`simulated seeds 1 to ${Math.ceil(count / 2)}, and from ${first} on`)
      const begun = performance.now()
      const sum = { events: 0, virtualMs: 0, graded: 0, failed: 0, pending: 0 }
      const failures: string[] = []
      for (let place = 0; place < count && failures.length < SHOWN_FAILURES; place += 1) {
        const seed = place < count / 2 ? place + 1 : first + place
        const { failure, events, virtualMs, account } = await play(seed)
        sum.events += events
        sum.virtualMs += virtualMs
        sum.graded += account?.graded ?? 0
        sum.failed += account?.failed ?? 0
        sum.pending += account?.pending ?? 0
        if (failure !== undefined) failures.push(tell(await play(seed, { traced: true }), SHOWN_EVENTS))
      }
      const minutes = (performance.now() - begun) / 60_000
      tellFigures(
        `${count} seeds at ${Math.round(count / minutes)} a minute: ${sum.events} events, ${Math.round(sum.virtualMs / 3_600_000)} h of virtual time, ${sum.graded} rollouts graded, ${sum.failed} failed, ${sum.pending} left pending`,
      )
      assert.is(failures.length, 0, failures.join('\n\n'))
    },
    { deadlineMs: 30_000 + 200 * count },
  )

  test('the same seed plays the same run, event by event', async () => {
    for (const seed of [...Array(20).keys(), 2 ** 31 - 1]) {
      const [first, second] = [await play(seed, { traced: true }), await play(seed, { traced: true })]
      assert.ok(first.trace.length > 50, `seed ${seed} has hardly anything to it`)
      assert.is(second.trace.join('\n'), first.trace.join('\n'))
      assert.is((await play(seed)).events, first.events, 'looking on changes nothing')
    }
    const [one, other] = [await play(1, { traced: true }), await play(2, { traced: true })]
    assert.is.not(one.trace.join('\n'), other.trace.join('\n'))
  })

  for (const [defect, mutation] of Object.entries(mutations))
    test(`a defect shows: ${defect}`, async () => {
      const found = await find(mutation)
      assert.ok(found?.failure, `no seed up to ${ENOUGH} shows it`)
      const again = await play(found.seed, { traced: true, mutation })
      assert.is(again.failure, found.failure)
      tellFigures(`${defect}: seed ${found.seed} says ${found.failure.slice(0, 80)}`)
    })
}

async function find(mutation: Mutation): Promise<Played | undefined> {
  for (let seed = 1; seed <= ENOUGH; seed += 1) {
    const played = await play(seed, { mutation })
    if (played.failure !== undefined) return played
  }
  return undefined
}

/** What went wrong with a seed, how to see it again, and what happened before. */
function tell({ seed, failure, trace }: Played, events: number): string {
  const shown = trace.slice(-events)
  return [
    `seed ${seed}: ${failure}`,
    `again: TROUPE_SIMULATED_SEED=${seed} node dist/test/run.js simulated`,
    `the last ${shown.length} of ${trace.length} events:`,
    ...shown.map(event => `  ${event}`),
  ].join('\n')
}

test.run()
