import { sleep } from '../clock.ts'
import type { Cli } from './cli.ts'
import { EXIT } from './exit-codes.ts'

/** How long a second Ctrl-C waits for sandboxes to be given back. Hosts end with this process in any case. */
const AT_ONCE_MS = 2_000

/** Not in order any more: nothing is drained, but sandboxes are given back as far as two seconds allow. Ends the process. */
export async function endAtOnce(close: () => Promise<void>, cli: Cli): Promise<void> {
  cli.console.need('ending at once')
  const closed = close().catch(error => cli.tell(error))
  await Promise.race([closed, sleep(cli.clock, AT_ONCE_MS)])
  process.exit(EXIT.interrupted)
}
