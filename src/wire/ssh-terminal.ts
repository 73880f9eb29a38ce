import { constants } from 'node:os'
import type { Duplex } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { Clock } from '../clock.ts'
import type { Binding } from './binding.ts'
import { shellLost } from './exec-errors.ts'
import { login } from './ssh-shell.ts'

/** A window that a person looks at. */
export interface WindowSize {
  readonly columns: number
  readonly rows: number
  /** The value of TERM there. */
  readonly term: string
}

/** An interactive shell in a session's workspace. */
export interface SshTerminal {
  /** What is typed goes in, what is shown comes out. */
  readonly channel: Duplex
  /** What a shell without a window says on its stderr; with one, that is in the channel too. */
  readonly stderr: NodeJS.ReadableStream
  /** Resolves with the shell's exit status; rejects with `shell-lost`. */
  readonly ended: Promise<number>
  resize(columns: number, rows: number): void
  close(): void
}

/** Opens a login shell over an `ssh/2` stream; without a window it reads its commands to their end, as from a file. Close it. */
export async function openSshTerminal(
  stream: Duplex,
  binding: Binding,
  clock: Clock,
  window: WindowSize | undefined,
): Promise<SshTerminal> {
  const client = await login(stream, binding, clock).catch((error: unknown) => {
    stream.destroy()
    throw error
  })
  const lost = new Promise<never>((_, reject) => {
    client.on('error', error => reject(shellLost('ssh/2', error.message)))
    client.once('close', () => reject(shellLost('ssh/2', 'the environment ended it')))
  })
  lost.catch(() => {}) // once the shell has ended by itself, nobody asks any more
  const pty = window === undefined ? false : { cols: window.columns, rows: window.rows, term: window.term }
  const opening = new Promise<ClientChannel>((resolve, reject) => {
    client.shell(pty, (error, opened) => {
      if (error === undefined) resolve(opened)
      else reject(shellLost('ssh/2', error.message))
    })
  })
  const close = () => {
    client.end()
    stream.destroy()
  }
  try {
    const channel = await Promise.race([opening, lost])
    let exitCode = 0
    channel.on('error', () => {}) // followed by `close`
    channel.on('exit', (code: number | null, name?: string) => {
      exitCode = code ?? 128 + signalNumber(name)
    })
    const over = new Promise<number>(resolve => channel.once('close', () => resolve(exitCode)))
    return {
      channel,
      stderr: channel.stderr,
      ended: Promise.race([over, lost]),
      resize: (columns, rows) => void channel.setWindow(rows, columns, 0, 0),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

function signalNumber(name: string | undefined): number {
  const known: Readonly<Record<string, number>> = constants.signals
  return known[`SIG${name}`] ?? constants.signals.SIGKILL
}
