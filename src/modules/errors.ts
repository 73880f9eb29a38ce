/** What can be wrong with a source file that is loaded as a module. */
import { TroupeError } from '../errors.ts'

export function moduleNotFound(path: string): TroupeError {
  return new TroupeError({
    tag: 'module-not-found',
    address: path,
    message: `there is no file ${path}. Check the path; it is taken from the current directory.`,
  })
}

/** Errors of ours that a module throws while it loads (wrong arguments, two templates of one name) are passed on as they are. */
export function moduleFailed(path: string, thrown: unknown): TroupeError {
  if (thrown instanceof TroupeError) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const syntax = /^ParseError: (.*?)\s*\n\s*(\S.*?):(\d+):(\d+)/s.exec(text)
  if (syntax !== null) return syntaxError(`${syntax[2]}:${syntax[3]}:${syntax[4]}`, syntax[1] ?? 'syntax error', thrown)
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  if (thrown instanceof SyntaxError) {
    const place = /^(?:file:\/\/)?(\/.*:\d+)$/m.exec(stack.split('\n')[0] ?? '')?.[1]
    return syntaxError(place ?? path, text, thrown)
  }
  const missing = /^Cannot find (?:module|package) '([^']+)'/.exec(text)?.[1]
  const place = missing === undefined ? placeIn(path, stack) : path
  return new TroupeError(
    {
      tag: 'module-failed',
      address: place,
      message:
        missing === undefined
          ? `${place}: loading the file failed: ${text}. Correct it and start again.`
          : `${path}: an import was not found: "${missing}". Check its spelling, or install the package it names.`,
    },
    thrown,
  )
}

function syntaxError(place: string, text: string, cause: unknown): TroupeError {
  return new TroupeError(
    { tag: 'module-syntax', address: place, message: `${place}: ${text}. Correct the file and start again.` },
    cause,
  )
}

/** `path:line:column` where the stack passes through the file itself, else the path. */
function placeIn(path: string, stack: string): string {
  const start = stack.indexOf(`${path}:`)
  const position = start < 0 ? null : /^:(\d+:\d+)/.exec(stack.slice(start + path.length))
  return position === null ? path : `${path}:${position[1]}`
}
