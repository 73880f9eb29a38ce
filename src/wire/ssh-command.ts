import { constants } from 'node:os'
import type { Client, ClientChannel } from 'ssh2'
import type { Clock } from '../clock.ts'
import { commandTimedOut, shellLost } from './exec-errors.ts'
import { DEFAULT_MAX_OUTPUT_BYTES, makeBoundedOutput } from './exec-output.ts'
import type { CommandOptions, CommandResult } from './shell.ts'

/**
 * One command over SSH. The time limit runs from the request, because the protocol does not tell when the command starts.
 * Closing the channel is what kills the command; the signal is sent first for servers that only honour that. `ended` is the
 * connection's end, with the reason to reject with.
 */
export function runSshCommand(
  client: Client,
  command: string,
  options: CommandOptions,
  ended: AbortSignal,
  clock: Clock,
): Promise<CommandResult> {
  const { stdin, timeoutMs, signal, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options
  const stdout = makeBoundedOutput(maxOutputBytes)
  const stderr = makeBoundedOutput(maxOutputBytes)
  return new Promise((resolve, reject) => {
    let channel: ClientChannel | undefined
    let over = false
    const settle = (finish: () => void) => {
      if (over) return
      over = true
      cancel()
      signal?.removeEventListener('abort', abort)
      ended.removeEventListener('abort', lose)
      finish()
    }
    const stop = (reason: unknown) =>
      settle(() => {
        if (channel !== undefined) hangUp(channel)
        reject(reason)
      })
    const abort = () => stop(signal?.reason)
    const lose = () => stop(ended.reason)
    const cancel = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => stop(commandTimedOut(timeoutMs)))
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    ended.addEventListener('abort', lose, { once: true })

    client.exec(command, (error, opened) => {
      if (error !== undefined) return stop(shellLost('ssh/2', error.message))
      channel = opened
      let exitCode: number | undefined
      opened.on('error', () => {}) // followed by `close`
      opened.on('data', (chunk: Buffer) => stdout.push(chunk))
      opened.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
      opened.on('exit', (code: number | null, name?: string) => {
        exitCode = code ?? 128 + signalNumber(name)
      })
      opened.on('close', () =>
        settle(() => {
          if (exitCode === undefined) reject(shellLost('ssh/2', 'the command ended without an exit status'))
          else resolve({ exitCode, stdout: stdout.text(), stderr: stderr.text() })
        }),
      )
      if (over) return hangUp(opened)
      opened.end(stdin)
    })
  })
}

function hangUp(channel: ClientChannel): void {
  channel.signal('KILL')
  channel.resume().stderr.resume()
  channel.close()
}

function signalNumber(name: string | undefined): number {
  const known: Readonly<Record<string, number>> = constants.signals
  return known[`SIG${name}`] ?? constants.signals.SIGKILL
}
