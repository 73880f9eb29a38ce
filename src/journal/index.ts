export { type ExportFormat, exportRuns } from './export.ts'
export type { Consumption, JobRecord, Journal, JournalSpec, KeptRecord, LedgerEntry } from './journal.ts'
export { type LmdbJournal, type LmdbJournalOptions, openLmdbJournal } from './lmdb-journal.ts'
export { openMemoryJournal } from './memory-journal.ts'
