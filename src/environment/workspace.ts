import type { Duplex } from 'node:stream'
import type { Binding } from '../wire/binding.ts'
import type { CommandOptions, CommandResult } from '../wire/shell.ts'

/** How commands in a workspace are kept apart from the machine. */
export interface IsolationOptions {
  /** `bwrap`, or `none` where the user said `--unsafe-no-isolation`. */
  readonly isolation: 'bwrap' | 'none'
  /** False: only a loopback interface of its own. */
  readonly network: boolean
  /**
   * Limits of one session. Processor time and the size of a file are each process's own; memory is each one's address space, and of
   * all together what they really hold.
   */
  readonly limits: {
    readonly cpuSeconds: number
    readonly memoryBytes: number
    readonly processes: number
    readonly fileBytes: number
    /** What the workspace's files take up together. */
    readonly diskBytes: number
  }
  /** Commands that run at once in the whole host; more wait their turn, and their time limit starts when they do. */
  readonly maxCommands: number
}

/** A session's workspace as a template sees it. Paths are relative to its directory; one that leaves it is refused. */
export interface Workspace {
  /** Where it lies on the host. Commands see it as `/workspace`. */
  readonly directory: string
  read(path: string): Promise<string>
  write(path: string, content: string | Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Runs a command as the agent would: isolated, under `bash -lc`. */
  exec(command: string, options?: CommandOptions): Promise<CommandResult>
  /**
   * Runs a program apart from the workspace, isolated the same way: `argv` without a shell, in a fresh directory that holds
   * only `files` and is removed afterwards. `env` is the whole environment. Files named in `collect` come back if they exist.
   */
  runClean(run: CleanRun): Promise<CommandResult & { readonly collected: ReadonlyMap<string, string> }>
}

/** A program that `runClean` runs apart from the workspace, with the files that it is given and no others. */
export interface CleanRun {
  readonly argv: readonly string[]
  /**
   * A program of the judge's own that has loaded what `argv` would load, and forks to do the same with `arguments`. It is started
   * once, with `files` and without the peer; what the forks run must be trusted like it. A workspace may ignore it and start `argv`.
   */
  readonly warm?: {
    readonly argv: readonly string[]
    readonly files: ReadonlyMap<string, string | Uint8Array>
    readonly arguments: readonly string[]
  }
  readonly files: ReadonlyMap<string, string | Uint8Array>
  readonly env: Readonly<Record<string, string>>
  readonly collect: readonly string[]
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /**
   * A second program, isolated by itself with its own files: the first reads what it writes on descriptor 3 and writes to it
   * on descriptor 4 (the second's stdout and stdin). Untrusted code goes here, so that it shares no process with its judge.
   */
  readonly peer?: { readonly argv: readonly string[]; readonly files: ReadonlyMap<string, string | Uint8Array> }
}

/** Makes the workspaces of one environment host and serves their capabilities. */
export interface WorkspaceHost {
  /** Rejects with what is missing and how to get it (`bwrap-missing`, `bwrap-unusable`). */
  preflight(): Promise<void>
  open(sessionId: string): Promise<OpenWorkspace>
  /** `shell` (ssh/2) or `exec` (exec/1); rejects with `unknown-capability`. */
  connect(capability: string): Promise<Duplex>
  close(): Promise<void>
}

/** One session's workspace, and how its agent reaches it. */
export interface OpenWorkspace {
  readonly workspace: Workspace
  /** `exec/1` first, then `ssh/2`, with this session's own key and token. */
  readonly bindings: readonly Binding[]
  /** Kills every process of the session and removes its directory. */
  close(): Promise<void>
}
