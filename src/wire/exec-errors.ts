import { TroupeError } from '../errors.ts'

export function frameOverLimit(bytes: number, limit: number): TroupeError {
  return new TroupeError({
    tag: 'exec-frame-over-limit',
    message: `an exec/1 frame of ${bytes} bytes is over the limit of ${limit}: the peer does not speak exec/1`,
    details: { bytes, limit },
  })
}

export function frameNotRead(what: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'exec-frame-not-read',
    message: `an exec/1 ${what} frame cannot be read (${why}): the peer speaks another version`,
  })
}

export function tokenRefused(): TroupeError {
  return new TroupeError({
    tag: 'exec-token-refused',
    message: 'the exec/1 token is not valid: take it from the binding of a session that is still open',
  })
}

export function bindingNotUsable(name: string, protocol: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'binding-not-usable',
    message: `the environment's ${protocol} binding "${name}" cannot be used: ${why}`,
    address: name,
  })
}

/** Transient: the sandbox went away under a healthy client. */
export function shellLost(protocol: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'shell-lost',
    message: `the ${protocol} connection to the workspace was lost: ${why}`,
    details: { protocol },
    transient: true,
  })
}

export function shellClosed(protocol: string): TroupeError {
  return new TroupeError({
    tag: 'shell-closed',
    message: `this ${protocol} shell was closed: open another one on the session`,
    details: { protocol },
  })
}

export function noShell(environment: string, offered: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'no-shell',
    message:
      `environment "${environment}" offers no shell (exec/1 or ssh/2)${offered.length === 0 ? '' : `, only ${offered.join(', ')}`}: ` +
      'give it a workspace, or use an agent that needs none',
    address: environment,
    details: { offered },
  })
}

export function fileNotReadOverWire(path: string, why: string): TroupeError {
  return new TroupeError({ tag: 'file-not-read', message: `cannot read ${path}: ${why}`, address: path })
}

export function fileNotWrittenOverWire(path: string, why: string): TroupeError {
  return new TroupeError({ tag: 'file-not-written', message: `cannot write ${path}: ${why}`, address: path })
}

export function commandTimedOut(timeoutMs: number): TroupeError {
  return new TroupeError({
    tag: 'command-timeout',
    message: `the command ran longer than ${timeoutMs} ms and was killed: allow more time or give it less to do`,
    details: { timeoutMs },
  })
}
