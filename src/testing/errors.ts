import { TroupeError } from '../errors.ts'

export function fileNotThere(path: string, known: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'file-not-read',
    message: `the memory shell has no file ${path}; it has ${known.length === 0 ? 'none' : known.join(', ')}: give it with \`files\``,
    address: path,
  })
}

export function noAnswerFor(command: string): TroupeError {
  return new TroupeError({
    tag: 'command-not-known',
    message: `the memory shell does not know what \`${command}\` prints: give it an \`exec\` that does`,
  })
}

export function noRun(slug: string): TroupeError {
  return new TroupeError({
    tag: 'no-run',
    message: `the task "${slug}" was played, and no run came of it`,
    address: slug,
  })
}
