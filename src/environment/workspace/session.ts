import type { Clock } from '../../clock.ts'
import type { CommandResult } from '../../wire/shell.ts'
import type { CleanRun, Workspace } from '../workspace.ts'
import { type BaseDirectory, removeDirectory } from './base-directory.ts'
import { runClean } from './clean-run.ts'
import type { CommandGate } from './command-gate.ts'
import { type DirectoryFiles, makeDirectoryFiles } from './directory.ts'
import { processesRemain, tooManyAtOnce, workspaceClosed, workspaceFull } from './errors.ts'
import { agentEnvironment, type Launch, type LaunchSettings, shellArgv, toLaunch, visibleRoot } from './launch.ts'
import type { Owner, Owners } from './owners.ts'
import { type RunningProcess, startProcess } from './process.ts'
import { runToEnd } from './run-to-end.ts'
import { type Watched, watchUsage } from './usage-watch.ts'
import type { WarmPrograms } from './warm-programs.ts'

/** What all sessions of a host share. */
export interface SessionPorts {
  readonly settings: LaunchSettings
  readonly base: BaseDirectory
  readonly owners: Owners
  readonly gate: CommandGate
  readonly warmPrograms: WarmPrograms
  readonly clock: Clock
}

/** One session's workspace, as the host and its two servers use it. */
export interface WorkspaceSession extends Workspace {
  readonly id: string
  /** The directory as commands see it. */
  readonly root: string
  readonly files: DirectoryFiles
  readonly maxFileBytes: number
  /** Aborts when the session closes, with `workspace-closed`. */
  readonly closed: AbortSignal
  /** Starts a command under `bash -lc` when its turn comes. The turn ends with the process. Rejects with `workspace-full`. */
  start(command: string, signal?: AbortSignal): Promise<RunningProcess>
  /** Has `started` killed with the session, and waited for, and counts what it uses as the workspace's. Throws (and kills it) when the session is closed already. */
  track<P extends Watched & Pick<RunningProcess, 'kill'>>(started: P): P
  /** How a command with a terminal is started; `command` absent: an interactive login shell. Bounded, but takes no turn. */
  terminalLaunch(command: string | undefined, terminal: string): Launch
  /** Calls back once when the session closes; the call returned takes that back. */
  onClose(close: () => void): () => void
  close(): Promise<void>
}

const CLOSE_MS = 10_000
const MAX_PROCESSES = 256

/** `place`: the how-manieth session of its host this is; the older goes first where sessions wait for each other. */
export async function openSession(id: string, place: number, ports: SessionPorts): Promise<WorkspaceSession> {
  const name = `session-${place}`
  const { settings, base, owners, gate, clock } = ports
  const isolated = settings.view !== undefined
  const owner: Owner | undefined = owners.claim()
  const directory = await base.make(name, owner)
  const root = visibleRoot(isolated, directory)
  const files = makeDirectoryFiles({ directory, root, owner, maxFileBytes: settings.limits.fileBytes })
  const controller = new AbortController()
  const running = new Set<Pick<Watched, 'ended'> & Pick<RunningProcess, 'kill'>>()
  const closers = new Set<() => void>()
  const watch = watchUsage(directory, settings.limits, clock)
  let closing: Promise<void> | undefined

  const requireOpen = () => {
    if (controller.signal.aborted) throw workspaceClosed(id)
  }

  function requireSpace(): void {
    const why = watch.full()
    if (why !== undefined) throw workspaceFull(id, why)
  }

  function track<P extends Watched & Pick<RunningProcess, 'kill'>>(started: P): P {
    hold(started)
    watch.add(started)
    return started
  }

  /** As `track`, for what works in a directory of its own. */
  function hold<P extends Pick<Watched, 'ended'> & Pick<RunningProcess, 'kill'>>(started: P): P {
    running.add(started)
    const forget = () => running.delete(started)
    started.ended.then(forget, forget)
    if (controller.signal.aborted) started.kill()
    requireOpen()
    return started
  }

  /** Runs `body` with a turn at the gate; leaving it, and closing the session, aborts the signal that `body` gets. */
  async function inTurn<T>(signal: AbortSignal | undefined, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
    requireOpen()
    if (running.size >= MAX_PROCESSES) throw tooManyAtOnce(`commands of session ${id}`, MAX_PROCESSES)
    const both = new AbortController()
    const offClose = onClose(() => both.abort(workspaceClosed(id)))
    const abort = () => both.abort(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    let leave = () => {}
    try {
      leave = await gate.enter({ id, seniority: place }, both.signal)
      return await body(both.signal)
    } finally {
      leave()
      offClose()
      signal?.removeEventListener('abort', abort)
    }
  }

  function onClose(close: () => void): () => void {
    closers.add(close)
    return () => closers.delete(close)
  }

  function launch(command: string | undefined, terminal?: string): Launch {
    requireSpace()
    return toLaunch(settings, {
      argv: shellArgv(command),
      directory,
      owner,
      env: agentEnvironment(isolated, directory, terminal),
      ...(terminal === undefined ? {} : { terminal: true }),
    })
  }

  async function close(): Promise<void> {
    controller.abort(workspaceClosed(id))
    watch.close()
    for (const callback of [...closers]) callback()
    for (const started of running) started.kill()
    const late = await endedWithin(
      [...running].map(({ ended }) => ended),
      clock,
    )
    if (late) throw processesRemain(id, running.size)
    await removeDirectory(directory)
    owners.release(owner)
  }

  return {
    id,
    directory,
    root,
    files,
    maxFileBytes: settings.limits.fileBytes,
    closed: controller.signal,
    onClose,
    track,
    read: async path => files.read(path).toString('utf8'),
    write: async (path, content) => files.write(path, content),
    remove: async path => files.remove(path),
    exec: (command, options = {}): Promise<CommandResult> =>
      inTurn(options.signal, signal =>
        runToEnd(track(startProcess(launch(command), clock)), { ...options, signal }, clock),
      ),
    runClean: (run: CleanRun) =>
      inTurn(run.signal, signal => runClean({ ...run, signal }, { ...ports, track: hold, name: `${name}-clean` })),
    start: (command, signal) =>
      new Promise((resolve, reject) => {
        inTurn(signal, async inner => {
          inner.throwIfAborted()
          const started = track(startProcess(launch(command), clock))
          inner.addEventListener('abort', started.kill, { once: true })
          resolve(started)
          await started.ended
        }).catch(reject)
      }),
    terminalLaunch(command, terminal) {
      requireOpen()
      if (running.size >= MAX_PROCESSES) throw tooManyAtOnce(`commands of session ${id}`, MAX_PROCESSES)
      return launch(command, terminal)
    },
    close: () => (closing ??= close()),
  }
}

/** True when some have not ended by the deadline. */
async function endedWithin(ends: readonly Promise<unknown>[], clock: Clock): Promise<boolean> {
  if (ends.length === 0) return false
  let cancel = () => {}
  const late = new Promise<boolean>(resolve => {
    cancel = clock.after(CLOSE_MS, () => resolve(true))
  })
  try {
    return await Promise.race([Promise.allSettled(ends).then(() => false), late])
  } finally {
    cancel()
  }
}
