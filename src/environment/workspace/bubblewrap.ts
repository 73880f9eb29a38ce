/** What of the machine a sandbox sees: read once a host, the same for all its commands. */
export interface SystemView {
  readonly bwrap: string
  /** `/usr` and the top-level directories: symbolic links into it on merged systems, directories elsewhere. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly directories: readonly string[]
  /** Single files and directories of `/etc` that programs need: none with secrets. */
  readonly etc: readonly string[]
  /** Generated files for `/etc` (a passwd without the machine's users), by their name there. */
  readonly generatedEtc: readonly { readonly name: string; readonly source: string }[]
  /** False where the kernel or an older bwrap refuses to forbid nested user namespaces. */
  readonly disableUserns: boolean
  /** The file with the filter of system calls; undefined where this machine takes none. */
  readonly filter: string | undefined
  /** Descriptors of this process that no command is to be given. */
  readonly inherited: readonly number[]
}

export interface BubblewrapOptions {
  /** The host directory that becomes `/workspace`, the only place that outlives the command. */
  readonly directory: string
  readonly network: boolean
  /** A terminal of its own: the pty layer made the session, and a second `setsid` would take job control away. */
  readonly terminal: boolean
  /**
   * False: the program is process 1 itself. For one with more descriptors than the usual three: an init in front of it would
   * keep copies of them open, and the other side would never read an end of file.
   */
  readonly init: boolean
  /** Size of each of the private in-memory file systems. */
  readonly tmpBytes: number
  /** The descriptor on which bwrap finds the filter of system calls open, and which it closes. */
  readonly filter: number | undefined
}

export const WORKSPACE_ROOT = '/workspace'
const INNER_ID = '1000'
const SHM_BYTES = 64 * 1024 * 1024

/**
 * The first process of each sandbox. bwrap brings an init of its own, but then leaves as soon as the command ends: its init is
 * killed behind it and is the machine's to reap, which counts against the session's process limit until that happens (and in
 * a container without a proper init never does). This one is bwrap's child until the whole namespace is gone. Not the command
 * itself: process 1 ignores signals that it does not handle, `kill -TERM $$` among them. And where the machine runs out of memory, the
 * kernel is to end sandboxes before anything else, whoever took it.
 */
const INIT = ['/bin/sh', '-c', '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; "$@"; exit $?', 'init']

/**
 * The argv that runs a program isolated: all namespaces, no capabilities, a root file system of read-only parts. The
 * environment is not set here: bwrap passes on the one it is started with, and that holds nothing but the command's own.
 *
 * Processes live in one PID namespace a command: when the command ends, so does its init, and the kernel kills everything it
 * left in the background. `server &` therefore serves only commands in the same line; an agent that wants a server and a client
 * runs both in one command.
 *
 * `--new-session`, like the filter, keeps a command from pushing input into the host's terminal (TIOCSTI). With `terminal` the controlling
 * terminal is a pty made for this command alone, with only its own client at the other end, so there is nothing to push into.
 */
export function bubblewrapArgv(view: SystemView, options: BubblewrapOptions): readonly string[] {
  const tmp = String(options.tmpBytes)
  return [
    view.bwrap,
    ...['--unshare-all', '--unshare-user', '--as-pid-1', '--die-with-parent', '--hostname', 'workspace'],
    ...['--uid', INNER_ID, '--gid', INNER_ID, '--cap-drop', 'ALL'],
    ...(view.disableUserns ? ['--disable-userns'] : []),
    ...(options.filter === undefined ? [] : ['--seccomp', String(options.filter)]),
    ...(options.network ? ['--share-net'] : []),
    ...(options.terminal ? [] : ['--new-session']),
    ...view.directories.flatMap(path => ['--ro-bind', path, path]),
    ...view.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--proc', '/proc', '--dev', '/dev', '--size', String(SHM_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', tmp, '--tmpfs', '/tmp', '--size', tmp, '--tmpfs', '/home/agent'],
    ...view.generatedEtc.flatMap(({ name, source }) => ['--ro-bind', source, `/etc/${name}`]),
    ...view.etc.flatMap(path => ['--ro-bind-try', path, path]),
    ...(options.network ? ['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
    ...['--bind', options.directory, WORKSPACE_ROOT, '--remount-ro', '/', '--chdir', WORKSPACE_ROOT],
    '--',
    ...(options.init ? INIT : []),
  ]
}
