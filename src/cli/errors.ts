/** What can be wrong with a command line, in words; everything else is worded where it is found. */
import { TroupeError } from '../errors.ts'

export function noEnvironment(runtime: string): TroupeError {
  return new TroupeError({
    tag: 'no-environment',
    message: `the ${runtime} runtime serves an environment itself and there is no env.ts beside the tasks. Name one with --env FILE, or use --runtime url --url HOST:PORT for one that is already served.`,
  })
}

export function missingOption(option: string, why: string): TroupeError {
  return new TroupeError({ tag: 'missing-option', message: `${option} is missing: ${why}.` })
}

export function conflictingOptions(one: string, other: string, advice: string): TroupeError {
  return new TroupeError({
    tag: 'conflicting-options',
    message: `${one} and ${other} do not go together: ${advice}.`,
  })
}

export function chunkTooSmall(chunk: number, group: number): TroupeError {
  return new TroupeError({
    tag: 'chunk-too-small',
    message: `--chunk ${chunk} is smaller than one group of ${group}, and a chunk holds whole groups only. Use --chunk ${group} or more.`,
  })
}

export function unknownRecord(kind: 'run' | 'job', text: string, journal: string): TroupeError {
  return new TroupeError({
    tag: `unknown-${kind}`,
    address: journal,
    message: `the journal ${journal} has no ${kind} "${text}". See \`troupe runs --journal ${journal}\` for what it has.`,
  })
}

export function ambiguousRecord(kind: 'run' | 'job', text: string, matches: readonly string[]): TroupeError {
  return new TroupeError({
    tag: `ambiguous-${kind}`,
    message: `"${text}" is the beginning of ${matches.length} ${kind} ids: ${matches.slice(0, 4).join(', ')}${matches.length > 4 ? ', …' : ''}. Write more of it.`,
  })
}

export function noJournal(directory: string): TroupeError {
  return new TroupeError({
    tag: 'no-journal',
    address: directory,
    message: `there is no journal at ${directory}. \`troupe eval\` writes one; name another with --journal DIR.`,
  })
}
