/** Started by the tests in a worker thread: puts `count` runs of step `step` into the journal that the main thread holds. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/index.ts'
import { makeHeader } from './fixtures.ts'

const { directory, step, count } = workerData
const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'thread' })
const puts = Array.from({ length: count }, (_, index) =>
  journal.putRun(makeHeader({ step, index }), new Uint8Array(10_000).fill(step)),
)
// Both threads race for this one; exactly one of them gets it.
puts.push(journal.putRun(makeHeader({ step: 0, index: 0, seed: step }), Uint8Array.of(step)))
await Promise.all(puts)
await journal.close()
parentPort?.postMessage('done')
