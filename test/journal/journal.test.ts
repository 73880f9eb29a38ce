import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal, openMemoryJournal } from '../../src/journal/index.ts'
import { journalContract } from '../contracts/journal.ts'

journalContract('memory', async () => ({ journal: openMemoryJournal(), remove: async () => {} }))

journalContract('lmdb', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-journal-'))
  return {
    journal: await openLmdbJournal({ directory, clock: systemClock, role: 'owner' }),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
})
