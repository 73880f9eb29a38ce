/** How a command in a sandbox ended. */
export interface CommandResult {
  /** The exit status; 128 + n after signal n. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** What a command is given, and its limits. */
export interface CommandOptions {
  readonly stdin?: string | Uint8Array
  /** Milliseconds after which the command is killed and `exec` rejects with `command-timeout`. Absent: the phase's deadline decides. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Bytes kept of each of stdout and stderr, 1 MiB when absent; the rest is read and dropped, and the text says so. */
  readonly maxOutputBytes?: number
}

/** A shell in a session's workspace, over whichever capability the environment offers (`exec/1` preferred to `ssh/2`). */
export interface Shell {
  /** Which capability serves it. */
  readonly protocol: 'exec/1' | 'ssh/2'
  /** The directory commands start in. */
  readonly cwd: string
  /** Runs `command` under `bash -lc`. A command that fails is a result; only a broken connection, a timeout or an abort rejects. */
  exec(command: string, options?: CommandOptions): Promise<CommandResult>
  /** The file's text. Rejects with `file-not-read` naming the path. Relative paths start at `cwd`. */
  readFile(path: string): Promise<string>
  writeFile(path: string, content: string | Uint8Array): Promise<void>
  close(): Promise<void>
}
