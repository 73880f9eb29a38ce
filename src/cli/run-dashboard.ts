import { makeJournalSource } from '../dashboard/journal-source.ts'
import { makeLadders } from '../dashboard/ladders.ts'
import { startDashboardServer } from '../dashboard/server.ts'
import { takeDashboardToken } from '../dashboard/token.ts'
import { pickRunning } from '../feed/follow-journal.ts'
import { openLmdbJournal } from '../journal/lmdb-journal.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { DashboardArguments } from './commands/dashboard.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { findJob } from './journal-reader.ts'
import { readTokenizer } from './read-tokenizer.ts'

/** Serves a page of a journal's jobs until a signal. */
export async function runDashboard(directory: string, options: DashboardArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  const { host, port } = options.port
  // What is wrong with the file is said now, not when somebody looks at a run.
  const tokenizer = options.base === undefined ? undefined : await readTokenizer(options.base)
  const token = takeDashboardToken(host, process.env)
  await using opened = closing(await openLmdbJournal({ directory, clock, role: 'owner', readOnly: true }))
  const journal = opened.value
  const job = await (options.job === undefined ? pickRunning(journal, clock) : findJob(journal, options.job))
  await using source = closing(makeJournalSource({ journal, clock, job, tokenizer: async () => tokenizer }))
  let end: () => void = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  const interrupt = armInterrupt({ onFirst: end, onSecond: () => process.exit(EXIT.interrupted) })
  try {
    await using server = closing(
      await startDashboardServer({
        host,
        port,
        ...(token === undefined ? {} : { token }),
        ladders: makeLadders(options.receipts),
        clock,
      }),
    )
    server.value.show(source.value)
    await console.print(server.value.url)
    console.talk(`${job.jobId} (${job.name}) of ${directory}; Ctrl-C ends this`)
    await ended
  } finally {
    interrupt.disarm()
  }
}
