import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { toJobId } from '../../src/ids.ts'
import { openLmdbJournal } from '../../src/journal/index.ts'
import { suite } from '../support/suite.ts'
import { collect, makeHeader } from './fixtures.ts'
import { withDirectory } from './temporary.ts'

const test = suite('a journal that other processes open')

const OPENER = fileURLToPath(new URL('./opener.js', import.meta.url))
const ROUNDS = 10
const RUNS = 30

const open = (directory: string) => openLmdbJournal({ directory, clock: systemClock, role: 'owner' })

test(
  'what is acknowledged is there, however many processes open the journal meanwhile',
  () =>
    withDirectory(async directory => {
      const openers = [1, 2, 3].map(() => fork(OPENER, [directory]))
      const opened = openers.map(child => once(child, 'message'))
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          const journal = await open(directory)
          const headers = Array.from({ length: RUNS }, (_, index) => makeHeader({ step: round, index }))
          for (const header of headers) await journal.putRun(header, Uint8Array.of(round))
          await journal.close()
        }
        await Promise.all(opened)
      } finally {
        for (const child of openers) child.disconnect()
        await Promise.all(openers.map(child => once(child, 'exit')))
      }
      const journal = await open(directory)
      assert.is((await collect(journal.runs(toJobId('job-1')))).length, ROUNDS * RUNS)
      await journal.close()
    }),
  { deadlineMs: 60_000 },
)

test.run()
