import { randomUUID } from 'node:crypto'
import type { LocalWorkspaceHost, WorkspaceSession } from '../environment/workspace/index.ts'
import { hasTag } from '../errors.ts'
import { quote } from '../quote.ts'
import type { CommandResult } from '../wire/shell.ts'
import { refused } from './errors.ts'

/** Where commands of a sandbox start, and the one place where its files are kept. */
export const HOME = '/workspace'

/** A piece of a command's output, as it came. */
export interface LogChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Buffer
}

export interface SessionCommand {
  readonly id: string
  readonly command: string
  exitCode: number | undefined
  readonly log: LogChunk[]
  /** Told of each piece, and of the end with `undefined`. */
  readonly followers: Set<(chunk: LogChunk | undefined) => void>
  kill: () => void
}

export interface Execution {
  readonly command: string
  readonly cwd?: string | undefined
  readonly envs?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  readonly stdin?: Buffer
  readonly maxOutputBytes?: number
}

/** What a sandbox holds: a directory, commands that run there in bubblewrap, and sessions of such commands. */
export interface Space {
  readonly sessions: Map<string, Map<string, SessionCommand>>
  /** Whether anything was run or written in it. */
  readonly used: boolean
  exec(execution: Execution): Promise<CommandResult>
  /** Starts a command in a session and resolves with it while it runs; `end` settles when it has ended. */
  start(sessionId: string, command: string): Promise<{ readonly started: SessionCommand; readonly end: Promise<void> }>
  /** A command of a session that is not a process in the sandbox. */
  note(sessionId: string, command: string): SessionCommand
  /** Ends all commands and sessions; files stay. */
  killAll(): void
  close(): Promise<void>
}

/** A log keeps its last so many bytes. */
const MAX_LOG_BYTES = 1024 * 1024

/** Nothing is made before something is run: most sandboxes of a wide pool only serve. */
export function makeSpace(id: string, host: LocalWorkspaceHost): Space {
  let opening: ReturnType<LocalWorkspaceHost['open']> | undefined
  const sessions: Space['sessions'] = new Map()
  const running = new Set<() => void>()

  async function workspace(): Promise<WorkspaceSession> {
    opening ??= host.open(id)
    return (await opening).workspace
  }

  function note(sessionId: string, command: string): SessionCommand {
    const commands = sessions.get(sessionId)
    if (commands === undefined) throw refused(404, `session ${sessionId} not found`)
    const noted: SessionCommand = {
      id: randomUUID(),
      command,
      exitCode: undefined,
      log: [],
      followers: new Set(),
      kill: () => {},
    }
    commands.set(noted.id, noted)
    return noted
  }

  return {
    sessions,
    get used() {
      return opening !== undefined
    },
    note,
    async exec({ command, cwd, envs, timeoutMs, stdin, maxOutputBytes }) {
      const inside = await workspace()
      const controller = new AbortController()
      const kill = () => controller.abort(refused(404, 'the sandbox has stopped'))
      running.add(kill)
      try {
        return await inside.exec(prelude(cwd, envs) + command, {
          signal: controller.signal,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(stdin === undefined ? {} : { stdin }),
          ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
        })
      } catch (error) {
        if (hasTag(error, 'command-timeout')) throw refused(408, 'command execution timeout')
        throw error
      } finally {
        running.delete(kill)
      }
    },
    async start(sessionId, command) {
      const started = note(sessionId, command)
      const child = await (await workspace()).start(command)
      child.stdin.end()
      let kept = 0
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream].on('data', (bytes: Buffer) => {
          const chunk = { stream, bytes }
          started.log.push(chunk)
          kept += bytes.length
          while (kept > MAX_LOG_BYTES) kept -= started.log.shift()?.bytes.length ?? kept
          for (const follow of started.followers) follow(chunk)
        })
      started.kill = () => child.kill()
      running.add(started.kill)
      const finish = (exitCode: number) => {
        running.delete(started.kill)
        endCommand(started, exitCode)
      }
      const end = child.ended.then(
        ({ exitCode }) => finish(exitCode),
        error => {
          finish(127)
          throw error
        },
      )
      return { started, end }
    },
    killAll() {
      for (const kill of running) kill()
      for (const commands of sessions.values())
        for (const command of commands.values()) if (command.exitCode === undefined) command.kill()
      sessions.clear()
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close() // what never opened holds nothing
    },
  }
}

/** Tells those who follow it. */
export function endCommand(command: SessionCommand, exitCode: number): void {
  if (command.exitCode !== undefined) return
  command.exitCode = exitCode
  for (const follow of command.followers) follow(undefined)
  command.followers.clear()
}

export function textOf(command: SessionCommand, ...streams: readonly LogChunk['stream'][]): string {
  const chunks = command.log.filter(({ stream }) => streams.includes(stream))
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8')
}

function prelude(cwd: string | undefined, envs: Readonly<Record<string, string>> | undefined): string {
  const variables = Object.entries(envs ?? {})
  const bad = variables.find(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  if (bad !== undefined) throw refused(400, `"${bad[0]}" is no name of a variable`)
  const lines = [
    ...(cwd === undefined || cwd === '' ? [] : [`cd -- ${quote(cwd)} || exit`]),
    ...variables.map(([name, value]) => `export ${name}=${quote(value)}`),
  ]
  return lines.map(line => `${line}\n`).join('')
}
