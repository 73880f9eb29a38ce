import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { within } from './within.ts'

/** For the runtime to find out. */
const ASK_MS = 2_500
/** For a loss that is about to be told: a connection breaks a moment before its process has ended. */
const GRACE_MS = 1_000

/** What the runtime can say of why a sandbox stopped answering; undefined where it says nothing in time. Never rejects. */
export async function diagnose(
  runtime: Pick<Runtime, 'diagnose'>,
  id: SandboxId,
  clock: Clock,
): Promise<ErrorData | undefined> {
  const asked = runtime.diagnose === undefined ? new Promise<undefined>(() => {}) : runtime.diagnose(id)
  const ms = runtime.diagnose === undefined ? GRACE_MS : ASK_MS
  return within<ErrorData | undefined>(clock, asked, ms, async () => undefined).catch(() => undefined)
}
