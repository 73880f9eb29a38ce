/** Started by the tests: `opener.js DIRECTORY` opens the journal for reading and closes it, again and again, and says so each time. */
import { systemClock } from '../../src/clock.ts'
import { hasTag } from '../../src/errors.ts'
import { openLmdbJournal } from '../../src/journal/index.ts'

const [, , directory = ''] = process.argv
process.once('disconnect', () => process.exit(0))

for (;;) {
  try {
    const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
    await journal.jobs()
    await journal.close()
    await new Promise(resolve => process.send?.('opened', resolve))
  } catch (error) {
    // Before the owner has made it.
    if (!hasTag(error, 'journal-missing')) throw error
  }
  await new Promise(setImmediate)
}
