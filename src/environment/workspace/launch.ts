import type { IsolationOptions } from '../workspace.ts'
import { bubblewrapArgv, type SystemView, WORKSPACE_ROOT } from './bubblewrap.ts'
import { commandTooLong } from './errors.ts'
import { withoutDescriptors } from './inherited-descriptors.ts'
import { prlimitArgv } from './limits.ts'
import type { Owner } from './owners.ts'

/** A program to start on the host's side: what `spawn` and the pty layer need to know. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly owner: Owner | undefined
  /** True when processes left in the background end with the command by themselves (a PID namespace of their own). */
  readonly contained: boolean
  /** A file to be opened for the program, and the number of the descriptor on which it expects it. */
  readonly filter?: { readonly path: string; readonly descriptor: number }
}

export interface LaunchRequest {
  readonly argv: readonly string[]
  /** The host directory that the command works in. */
  readonly directory: string
  readonly owner: Owner | undefined
  /** The command's whole environment; nothing of this process's is passed on. */
  readonly env: Readonly<Record<string, string>>
  readonly terminal?: boolean
  /** Descriptors from 3 on that the program is given. */
  readonly descriptors?: number
}

export interface LaunchSettings extends Pick<IsolationOptions, 'network' | 'limits'> {
  /** Absent: no isolation. */
  readonly view: SystemView | undefined
}

const MAX_TMP_BYTES = 256 * 1024 * 1024
const PATH = '/usr/bin:/bin:/usr/local/bin'

/**
 * Wraps a command in its limits and its sandbox. With an owner of its own the limits come first, so that they count all of
 * the session's processes; otherwise they are set inside bwrap, where the count starts at zero for each command, because
 * outside they would count everything else that this user runs.
 */
export function toLaunch(settings: LaunchSettings, request: LaunchRequest): Launch {
  const { view, limits, network } = settings
  const { argv, directory, owner, env } = request
  const terminal = request.terminal ?? false
  const base = { cwd: directory, env, owner }
  if (view === undefined)
    return { ...base, ...split([...prlimitArgv(limits, owner !== undefined), ...argv]), contained: false }
  const prlimit = prlimitArgv(limits, true)
  const tmpBytes = Math.min(MAX_TMP_BYTES, limits.memoryBytes)
  const { descriptors = 0 } = request
  const filter = view.filter === undefined ? undefined : { path: view.filter, descriptor: 3 + descriptors }
  const init = descriptors === 0
  const bwrap = bubblewrapArgv(view, { directory, network, terminal, tmpBytes, init, filter: filter?.descriptor })
  // Not those that it is given on purpose, by now under the same numbers.
  const given = 3 + descriptors + (filter === undefined ? 0 : 1)
  const alone = withoutDescriptors(view.inherited.filter(descriptor => descriptor >= given))
  const whole =
    owner === undefined ? [...alone, ...bwrap, ...prlimit, ...argv] : [...alone, ...prlimit, ...bwrap, ...argv]
  return { ...base, ...split(whole), cwd: '/', contained: true, ...(filter === undefined ? {} : { filter }) }
}

/** Linux takes 128 KiB in one argument. */
const MAX_COMMAND_BYTES = 131_071

/**
 * The agent's commands run under a login shell; without `/etc/profile` in the sandbox, that costs nothing and changes nothing.
 * Throws `command-too-long`.
 */
export function shellArgv(command: string | undefined): readonly string[] {
  if (command === undefined) return ['/bin/bash', '-l']
  const bytes = Buffer.byteLength(command)
  if (bytes > MAX_COMMAND_BYTES) throw commandTooLong(bytes, MAX_COMMAND_BYTES)
  return ['/bin/bash', '-lc', command]
}

/** The agent's environment: small, the same on every machine, without any variable of the server. */
export function agentEnvironment(isolated: boolean, directory: string, terminal?: string): Record<string, string> {
  return {
    PATH,
    HOME: isolated ? '/home/agent' : directory,
    LANG: 'C.UTF-8',
    TERM: terminal ?? 'dumb',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
  }
}

/** The directory as commands see it. */
export const visibleRoot = (isolated: boolean, directory: string): string => (isolated ? WORKSPACE_ROOT : directory)

function split(argv: readonly string[]): { readonly file: string; readonly args: readonly string[] } {
  const [file = '', ...args] = argv
  return { file, args }
}
