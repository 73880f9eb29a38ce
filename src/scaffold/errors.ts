/** What can be wrong with a place or a name for a new environment, in words. */
import { TroupeError } from '../errors.ts'

/** How many names of files are told. */
const TOLD = 5

export function directoryNotEmpty(directory: string, names: readonly string[]): TroupeError {
  const more = names.length > TOLD ? `, and ${names.length - TOLD} more` : ''
  return new TroupeError({
    tag: 'directory-not-empty',
    address: directory,
    message: `${directory} has files: ${names.slice(0, TOLD).join(', ')}${more}. Name another directory, or have files of the same name replaced with --force; others stay as they are.`,
    details: { names },
  })
}

export function notADirectory(path: string): TroupeError {
  return new TroupeError({
    tag: 'not-a-directory',
    address: path,
    message: `${path} is there, and no directory. Name another one.`,
  })
}

export function badEnvironmentName(name: string): TroupeError {
  return new TroupeError({
    tag: 'bad-environment-name',
    address: name,
    message: `"${name}" cannot name an environment and its package: use lower-case letters, digits, ".", "_" and "-", beginning with a letter or a digit, 100 at most. Say one with --name.`,
  })
}

export function notWritten(path: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'scaffold-not-written',
      address: path,
      message: `${path} could not be written. Look at the rights of its directory and the space on its disk, and run the command again with --force.`,
    },
    cause,
  )
}
