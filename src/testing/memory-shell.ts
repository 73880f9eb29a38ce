import type { CommandOptions, CommandResult, Shell } from '../wire/shell.ts'
import { fileNotThere, noAnswerFor } from './errors.ts'

/** The files of a shell in memory, and what its commands do. */
export interface MemoryShellOptions {
  /** What it starts with, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** What a command does; it may read and change `files`. A string is what it prints, with status 0. */
  readonly exec?: (
    command: string,
    files: Map<string, string>,
    options: CommandOptions,
  ) => string | CommandResult | Promise<string | CommandResult>
}

/** A shell without a sandbox behind it: files are kept in memory, and commands do what the test says. */
export interface MemoryShell extends Shell {
  /** As the agent left them. */
  readonly files: ReadonlyMap<string, string>
  /** What was run, in order. */
  readonly commands: readonly string[]
  readonly closed: boolean
}

/** Reading what is not there rejects with `file-not-read`; a command that nobody answers for, with `command-not-known`. */
export function makeMemoryShell(options: MemoryShellOptions = {}): MemoryShell {
  const files = new Map(Object.entries(options.files ?? {}))
  const commands: string[] = []
  let closed = false
  return {
    protocol: 'exec/1',
    cwd: '/workspace',
    files,
    commands,
    get closed() {
      return closed
    },
    async exec(command, given = {}) {
      given.signal?.throwIfAborted()
      commands.push(command)
      if (options.exec === undefined) throw noAnswerFor(command)
      const result = await options.exec(command, files, given)
      return typeof result === 'string' ? { exitCode: 0, stdout: result, stderr: '' } : result
    },
    async readFile(path) {
      const text = files.get(path)
      if (text === undefined) throw fileNotThere(path, [...files.keys()])
      return text
    },
    async writeFile(path, content) {
      files.set(path, typeof content === 'string' ? content : new TextDecoder().decode(content))
    },
    async close() {
      closed = true
    },
  }
}
