/**
 * Started by the tests with a limit on the size of files, which lmdb meets like a full disk: puts runs and writes the index of each
 * that is acknowledged, and the tag of each error, as a line into a file. `full-disk.js DIRECTORY FILE`.
 */
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { toErrorData } from '../../src/errors.ts'
import { openLmdbJournal } from '../../src/journal/index.ts'
import { makeHeader } from './fixtures.ts'

const RUNS = 200
// Default: the process is killed. Ignored: the write fails, as it does on a full disk.
process.on('SIGXFSZ', () => {})
const [, , directory = '', file = ''] = process.argv
const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
for (let round = 0; round < RUNS; round += 20)
  await Promise.all(
    Array.from({ length: 20 }, async (_, place) => {
      const index = round + place
      try {
        await journal.putRun(makeHeader({ index }), new Uint8Array(75_000))
        appendFileSync(file, `${index}\n`)
      } catch (error) {
        appendFileSync(file, `${toErrorData(error).tag}\n`)
      }
    }),
  )
await journal.close()
