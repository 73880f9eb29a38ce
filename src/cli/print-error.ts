import { CommanderError } from 'commander'
import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'
import { hide, hideInError } from '../redact.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'

/** The one place that words an error for the terminal, without secrets. Ends without a line for help and version, which are no errors. */
export function explainError(thrown: unknown, debug: boolean): { readonly text: string; readonly exit: ExitCode } {
  if (thrown instanceof CommanderError) return explainUsage(thrown)
  // Before it is turned into JSON below, which would write a secret in yet another way.
  const data = hideInError(toErrorData(thrown))
  const known = thrown instanceof TroupeError
  const lines = [`error: ${data.message}`, ...causes(data)]
  if (!known && !debug) lines.push('This was not foreseen; run again with --debug to see where it happened.')
  if (debug) {
    lines.push(JSON.stringify(data, undefined, 2))
    if (thrown instanceof Error && thrown.stack !== undefined) lines.push(thrown.stack)
  }
  return { text: `${hide(lines.join('\n'))}\n`, exit: known ? EXIT.badInput : EXIT.failed }
}

function explainUsage(error: CommanderError): { readonly text: string; readonly exit: ExitCode } {
  if (error.exitCode === 0) return { text: '', exit: EXIT.ok }
  // `troupe` and `troupe task` without a command show their help, which says more than an error would.
  if (error.code === 'commander.help') return { text: '', exit: EXIT.badInput }
  const message = error.message.replace(/^error: /, '')
  return { text: `error: ${hide(message)}\nSee --help for what can be asked.\n`, exit: EXIT.badInput }
}

function causes(data: ErrorData): string[] {
  const lines: string[] = []
  for (let cause = data.cause; cause !== undefined; cause = cause.cause)
    if (!data.message.includes(cause.message)) lines.push(`  because: ${cause.message}`)
  return lines
}
