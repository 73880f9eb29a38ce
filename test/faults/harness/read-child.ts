/** Reads the journal in the directory that it is given, and prints what came of it as JSON. */
import { readJournal } from './read-journal.ts'

process.stdout.write(JSON.stringify(await readJournal(process.argv[2] ?? '')))
