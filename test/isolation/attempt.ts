import type { Places } from './places.ts'

/** One thing that an agent may try through its shell, and how to tell that it got away with it. */
export interface Attempt {
  readonly what: string
  readonly command: (places: Places) => string
  /** By what it printed, or by what is now true of the machine. Whether the machine and its neighbours live on is looked at after each. */
  readonly got: (printed: string, places: Places) => boolean
  /** Nothing but the sandbox stands in its way: without one the same command has to get it, or this is no attempt. */
  readonly bare?: true
}

const WORD = 'ESCAPED'

/** Appended to a command in a shell: says that it worked. In two halves, so that a message that quotes the command says nothing. */
export const escapes = `&& echo ESC''APED`
export const saidSo = (printed: string): boolean => printed.includes(WORD)

/** Runs Python in the sandbox. `escaped()` says that it worked; `tries()` takes a refusal by the system for an answer. */
export function python(code: string): string {
  return `/usr/bin/python3 -I - <<'PY' 2>&1
import array, ctypes, fcntl, os, platform, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def escaped(*what): print('ESC' 'APED', *what, flush=True)
def tries(body):
    try: return body()
    except (OSError, ValueError): return None
${code}
PY`
}
