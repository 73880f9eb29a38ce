import type { ServerChannel, Session } from 'ssh2'
import { toErrorData } from '../../errors.ts'
import type { RunningProcess } from './process.ts'
import type { WorkspaceSession } from './session.ts'
import { startTerminal, type Terminal, type TerminalSize } from './terminal.ts'

const FATAL_SIGNALS = new Set(['HUP', 'INT', 'QUIT', 'KILL', 'TERM', 'ABRT'])
const NOT_RUN = 255

/** One SSH session channel: one command or interactive shell, with a terminal when one was asked for first. */
export function serveSshChannel(session: Session, workspace: WorkspaceSession, onEnd: () => void): void {
  const abort = new AbortController()
  let size: TerminalSize | undefined
  let terminal: Terminal | undefined

  const run = (channel: ServerChannel, command: string | undefined) => {
    // A client that goes away leaves nothing running.
    channel.once('close', () => abort.abort())
    channel.on('error', () => {}) // followed by `close`
    const ended =
      size === undefined
        ? runPiped(channel, workspace, command, abort.signal)
        : runInTerminal(channel, workspace, command, size, abort.signal, started => {
            terminal = started
          })
    ended.catch(error => {
      channel.stderr.write(`${toErrorData(error).message}\n`)
      finish(channel, NOT_RUN)
    })
  }

  // `env` is not listened to: ssh2 then refuses it, and a client cannot smuggle LD_PRELOAD into a login shell.
  session.on('pty', (accept, _reject, info) => {
    size = { columns: info.cols || 80, rows: info.rows || 24, term: info.term || 'xterm' }
    accept?.()
  })
  session.on('window-change', (accept, _reject, info) => {
    terminal?.resize(info.cols, info.rows)
    accept?.()
  })
  session.on('signal', (accept, _reject, info) => {
    if (FATAL_SIGNALS.has(info.name)) abort.abort()
    accept?.()
  })
  session.on('exec', (accept, _reject, info) => run(accept(), info.command))
  session.on('shell', accept => run(accept(), undefined))
  session.once('close', () => {
    abort.abort()
    onEnd()
  })
}

async function runPiped(
  channel: ServerChannel,
  workspace: WorkspaceSession,
  command: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  // A shell without a terminal reads its commands from stdin, as `ssh host < script` does.
  const started: RunningProcess = await workspace.start(command ?? 'exec /bin/bash', signal)
  channel.pipe(started.stdin)
  started.stdout.pipe(channel, { end: false })
  started.stderr.pipe(channel.stderr, { end: false })
  // Output that nobody takes any more is read and dropped: a process counts as ended only when its pipes are empty.
  channel.once('close', () => {
    started.stdout.unpipe().resume()
    started.stderr.unpipe().resume()
  })
  const { exitCode, why } = await started.ended
  if (why !== undefined && channel.writable) channel.stderr.write(`${why}\n`)
  finish(channel, exitCode)
}

async function runInTerminal(
  channel: ServerChannel,
  workspace: WorkspaceSession,
  command: string | undefined,
  size: TerminalSize,
  signal: AbortSignal,
  onStart: (terminal: Terminal) => void,
): Promise<void> {
  const terminal = workspace.track(await startTerminal(workspace.terminalLaunch(command, size.term), size))
  onStart(terminal)
  if (signal.aborted) terminal.kill()
  else signal.addEventListener('abort', terminal.kill, { once: true })
  channel.on('data', (data: Buffer) => terminal.write(data))
  terminal.onData(data => {
    if (!channel.writable || channel.write(data)) return
    terminal.pause()
    channel.once('drain', terminal.resume)
  })
  const { exitCode } = await terminal.ended
  finish(channel, exitCode)
}

function finish(channel: ServerChannel, exitCode: number): void {
  if (!channel.writable) return
  channel.exit(exitCode)
  channel.end()
}
