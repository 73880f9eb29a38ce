/** Ends with 0 where the journal in the directory that it is given has all its entries; see `check-elsewhere.ts`. */
import { checkStore } from './lmdb-store.ts'

try {
  await checkStore(process.argv[2] ?? '')
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
