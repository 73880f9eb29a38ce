import { TroupeError } from '../../errors.ts'

const UNSAFE = 'or pass --unsafe-no-isolation to run commands on this machine without isolation'

export function bwrapMissing(): TroupeError {
  return new TroupeError({
    tag: 'bwrap-missing',
    message: `bubblewrap (bwrap) is not on PATH: install it with "apt-get install -y bubblewrap", ${UNSAFE}`,
  })
}

/** `reason` is what bwrap printed; `fix` is the command that most likely helps on this machine. */
export function bwrapUnusable(reason: string, fix: string): TroupeError {
  return new TroupeError({
    tag: 'bwrap-unusable',
    message: `bubblewrap cannot isolate commands here (${reason}): ${fix}, ${UNSAFE}`,
    details: { reason },
  })
}

export function filterMissing(): TroupeError {
  return new TroupeError({
    tag: 'isolation-weakened',
    message:
      "this machine takes no filter of system calls (seccomp), so commands run without one: namespaces and limits hold, but not what keeps them from the kernel's log and keyrings, from other socket families and from pushing input into a terminal. Use a kernel with seccomp for what you do not trust.",
  })
}

export function pathRefused(path: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'path-refused',
    message: `${path}: ${why}; use a path inside the workspace, without symbolic links`,
    address: path,
  })
}

export function fileNotRead(path: string, why: string): TroupeError {
  return new TroupeError({ tag: 'file-not-read', message: `cannot read ${path}: ${why}`, address: path })
}

export function fileNotWritten(path: string, why: string): TroupeError {
  return new TroupeError({ tag: 'file-not-written', message: `cannot write ${path}: ${why}`, address: path })
}

export function fileNotRemoved(path: string, why: string): TroupeError {
  return new TroupeError({ tag: 'file-not-removed', message: `cannot remove ${path}: ${why}`, address: path })
}

export function fileTooLarge(path: string, bytes: number, limit: number): TroupeError {
  return new TroupeError({
    tag: 'file-too-large',
    message: `${path} has ${bytes} bytes, more than the ${limit} allowed: raise limits.fileBytes or make it smaller`,
    address: path,
    details: { bytes, limit },
  })
}

export function queueFull(waiting: number): TroupeError {
  return new TroupeError({
    tag: 'command-queue-full',
    message: `${waiting} commands already wait for their turn on this host: run fewer at once or raise maxCommands`,
    details: { waiting },
  })
}

export function tooManyAtOnce(what: string, limit: number): TroupeError {
  return new TroupeError({
    tag: 'too-many-at-once',
    message: `${what}: ${limit} are open at once already; wait for one to end`,
    details: { limit },
  })
}

export function workspaceClosed(session: string): TroupeError {
  return new TroupeError({
    tag: 'workspace-closed',
    message: 'the workspace was closed while the call was under way or before it: open a new session',
    address: session,
  })
}

export function workspaceFull(session: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'workspace-full',
    message: `${why}: no more commands run in this session; raise limits.diskBytes if the task needs more`,
    address: session,
  })
}

export function workspaceInUse(session: string): TroupeError {
  return new TroupeError({
    tag: 'workspace-in-use',
    message: `session ${session} has a workspace already: close it first`,
    address: session,
  })
}

export function commandTooLong(bytes: number, limit: number): TroupeError {
  return new TroupeError({
    tag: 'command-too-long',
    message: `the command has ${bytes} bytes, more than the ${limit} that a shell takes as an argument: write a file and run that, or send the text as stdin`,
    details: { bytes, limit },
  })
}

export function processNotStarted(cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'process-not-started',
      message: 'the command could not be started: check memory and process limits of this machine',
    },
    cause,
  )
}

export function processesRemain(session: string, count: number): TroupeError {
  return new TroupeError({
    tag: 'processes-remain',
    message: `${count} processes of session ${session} did not end after SIGKILL; its directory was left in place`,
    address: session,
    details: { count },
  })
}

export function unknownCapability(name: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-capability',
    message: `this host serves no capability "${name}": it has "exec" and "shell"`,
    address: name,
  })
}

export function warmProgramEnded(why: string): TroupeError {
  return new TroupeError({
    tag: 'warm-program-ended',
    message: `the program that forks for each run cannot be used: ${why}`,
  })
}
