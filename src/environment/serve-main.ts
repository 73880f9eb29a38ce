/**
 * The program of an environment host: serves one environment until it is told to end or, with `--exit-with-parent`, until its
 * standard input closes, so that a host never outlives an engine that was killed; then it also removes what `--own-directory`
 * names. It says where it listens on stdout, as HUD's
 * own does (`HUD_SERVE_PORT=<port>`), and what went wrong in one line on stderr (`TROUPE_SERVE_ERROR=<json>`).
 */
import { toErrorData } from '../errors.ts'
import { hide } from '../redact.ts'
import { markOwned } from './owned-directory.ts'
import { type RunningServer, runServe } from './serve.ts'
import { parseServeArguments, type ServeArguments } from './serve-arguments.ts'
import { describeInsecure, takeToken } from './serve-token.ts'
import { isExposed } from './server.ts'
import { removeDirectory } from './workspace/base-directory.ts'
import { closeInheritedDescriptors } from './workspace/inherited-descriptors.ts'

process.title = 'troupe-environment'
closeInheritedDescriptors()
// A parent that reads no more is gone or going; what is written to it then is nobody's.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  const given = parseServeArguments(process.argv.slice(2))
  const { ownDirectory } = given
  if (ownDirectory !== undefined) markOwned(ownDirectory, Date.now())
  try {
    await serve(given)
  } finally {
    if (ownDirectory !== undefined) await removeDirectory(ownDirectory)
  }
  process.exit(0)
} catch (error) {
  process.stderr.write(`TROUPE_SERVE_ERROR=${hide(JSON.stringify(toErrorData(error)))}\n`)
  // Whatever the environment's file has started must not hold the process: nobody can reach it.
  process.exit(1)
}

/** Resolves when it has been told to end, and has. */
async function serve({ settings, exitWithParent, tokenFile }: ServeArguments): Promise<void> {
  const told = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        // Told again: at once. Directories may be left, no process: commands die with this one.
        process.on(signal, () => process.exit(1))
        resolve()
      })
    if (exitWithParent) process.stdin.on('end', resolve).on('error', resolve).resume()
  })
  const { insecure = false } = settings
  const token = await takeToken({ insecure, ...(tokenFile === undefined ? {} : { file: tokenFile }) }, process.env)
  const server = await runServe({
    ...settings,
    ...(token === undefined ? {} : { token }),
    onError: error => process.stderr.write(`${hide(error.message)}\n`),
  })
  if (insecure && isExposed(server.address)) process.stderr.write(`${describeInsecure(server.address)}\n`)
  announce(server)
  // A signal that came before this line is answered here: everything that was begun has an end to go to.
  await told
  await server.close()
}

function announce({ address }: RunningServer): void {
  process.stdout.write(
    address.kind === 'unix' ? `TROUPE_SERVE_SOCKET=${address.path}\n` : `HUD_SERVE_PORT=${address.port}\n`,
  )
}
