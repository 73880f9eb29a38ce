/**
 * Started by the tests: holds a journal and puts runs until it is killed, and says which are acknowledged.
 * `writer.js DIRECTORY`, over an IPC channel.
 */
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/index.ts'
import { makeHeader } from './fixtures.ts'

const [, , directory = ''] = process.argv
const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
const IN_FLIGHT = 16
let index = 0

async function write(): Promise<void> {
  for (;;) {
    const header = makeHeader({ index: index++ })
    await journal.putRun(header, new Uint8Array(75_000).fill(header.index % 251))
    await new Promise(resolve => process.send?.(header.index, resolve))
  }
}
await Promise.all(Array.from({ length: IN_FLIGHT }, write))
