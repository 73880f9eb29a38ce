import { type ErrorData, TroupeError, toErrorData } from '../../../errors.ts'

export const dockerfileMissing = (path: string): TroupeError =>
  new TroupeError({
    tag: 'dockerfile-missing',
    message: `there is no Dockerfile at ${path}; correct the path of the image`,
    address: path,
  })

export const dockerfileInvalid = (path: string, line: number, problem: string): TroupeError =>
  new TroupeError({
    tag: 'dockerfile-invalid',
    message: `${path}:${line}: ${problem}; it could not be built`,
    address: `${path}:${line}`,
    details: { line },
  })

/** A source that the build would not find. */
export interface CopyProblem {
  readonly instruction: 'COPY' | 'ADD'
  readonly path: string
  readonly line: number | undefined
}

export const dockerfileCopiesMissing = (path: string, problems: readonly CopyProblem[]): TroupeError => {
  const lines = problems.map(
    ({ instruction, path: source, line }) =>
      `  ${line === undefined ? '' : `line ${line}: `}${instruction} ${source}${whyMissing(instruction, source)}`,
  )
  return new TroupeError({
    tag: 'dockerfile-copies-missing',
    message: `${path} copies what is not in its build context, so nothing was sent:\n${lines.join('\n')}\nSources are looked for beside the Dockerfile; create them or correct their paths`,
    address: path,
    details: { problems },
  })
}

function whyMissing(instruction: 'COPY' | 'ADD', source: string): string {
  if (source.includes('$')) return ' (variables are not known when sources are sent: write the path out)'
  if (source.startsWith('/')) return ' (write it relative to the Dockerfile)'
  if (source.startsWith('..')) return ' (it lies outside of the context)'
  if (/[*?[]/.test(source)) return ' (patterns are not sent: name the files, or their folder)'
  return instruction === 'ADD' ? ' (only what COPY names is sent: write COPY)' : ''
}

export const snapshotMissing = (name: string, existing: readonly string[]): TroupeError =>
  new TroupeError({
    tag: 'snapshot-missing',
    message: `there is no snapshot ${name}; ${existing.length === 0 ? 'the account has none' : `the account has ${toList(existing)}`}. Correct the name, or give an image to build it from`,
    address: name,
    details: { existing },
  })

export const snapshotNotActive = (name: string, state: string, reason: string | null): TroupeError =>
  new TroupeError({
    tag: 'snapshot-not-active',
    message: `snapshot ${name} is ${state}${reason === null || reason === '' ? '' : ` (${reason})`} and cannot be used; ${toNextStep(state)}`,
    address: name,
    details: { state, reason },
  })

function toNextStep(state: string): string {
  if (state === 'inactive') return 'activate it in the dashboard'
  if (state === 'error' || state === 'build_failed' || state === 'removing') return 'make it anew, or use another'
  return 'try again when it is active'
}

export const snapshotElsewhere = (name: string, region: string, regions: readonly string[]): TroupeError =>
  new TroupeError({
    tag: 'snapshot-elsewhere',
    message: `snapshot ${name} is not in region ${region} but in ${toList(regions)}; choose one of those, or make a snapshot there`,
    address: name,
    details: { region, regions },
  })

export interface FailedBuild {
  readonly name: string
  readonly reason: string | null
  /** The last lines of its log. */
  readonly log: readonly string[]
  /** Where sources are patterns, which some builders refuse. */
  readonly patternLines: readonly number[]
}

export const snapshotBuildFailed = ({ name, reason, log, patternLines }: FailedBuild): TroupeError => {
  const patterns = `Some builders refuse patterns in sources: write out those of line ${toList(patternLines.map(String))}.`
  return new TroupeError({
    tag: 'snapshot-build-failed',
    message: [
      `snapshot ${name} could not be built${reason === null || reason === '' ? '' : `: ${reason}`}`,
      ...(log.length === 0
        ? ['The provider has no log of it.']
        : ['Its log ends with:', ...log.map(line => `  ${line}`)]),
      ...(patternLines.length === 0 ? [] : [patterns]),
      'Correct its Dockerfile and run the same command again.',
    ].join('\n'),
    address: name,
    details: { reason, log },
  })
}

/** The build context could not be sent, or the create was answered with something that is no answer. */
export const snapshotNotSent = (name: string, thrown: unknown): TroupeError =>
  // As data: the error of a client may hold the request with its credentials.
  new TroupeError({
    tag: 'snapshot-not-sent',
    message: `snapshot ${name} could not be sent to the provider: ${toErrorData(thrown).message}; try again`,
    address: name,
    cause: toErrorData(thrown),
  })

/** News, for who follows the channel of sandboxes. */
export const buildLine = (name: string, line: string): ErrorData => ({
  tag: 'snapshot-build-log',
  message: line,
  address: name,
})

export const buildLogLost = (name: string, cause: ErrorData): ErrorData => ({
  tag: 'build-log-lost',
  message: `the log of the build of snapshot ${name} cannot be read any more (${cause.message}); the build goes on`,
  address: name,
  cause,
})

export const staleNotDeleted = (name: string, cause: ErrorData): ErrorData => ({
  tag: 'stale-snapshot-not-deleted',
  message: `the unused snapshot ${name} could not be deleted (${cause.message}); \`troupe reap\` finds it`,
  address: name,
  cause,
})

export const quotaUnknown = (cause: ErrorData): ErrorData => ({
  tag: 'quota-unknown',
  message: `the provider does not tell what the account may use (${cause.message}), so whether all sandboxes fit will be seen when they are made`,
  cause,
})

export const snapshotWaitTimeout = (name: string, state: string, afterMs: number): TroupeError =>
  new TroupeError({
    tag: 'snapshot-wait-timeout',
    message: `snapshot ${name} is still ${state} after ${Math.round(afterMs / 60_000)} min; look at it in the dashboard, delete it there if it is stuck, and try again`,
    address: name,
    details: { state, afterMs },
  })

/** One of the account's limits that is too small. */
export interface Shortage {
  readonly resource: 'cpu' | 'memory' | 'disk'
  readonly wanted: number
  readonly free: number
  readonly total: number
}

const UNITS = { cpu: 'vCPUs', memory: 'GiB of memory', disk: 'GiB of disk' } as const

export const quotaTooSmall = (
  region: string,
  sandboxes: number,
  fits: number,
  shortages: readonly Shortage[],
): TroupeError => {
  const lines = shortages.map(
    ({ resource, wanted, free, total }) => `  ${UNITS[resource]}: ${wanted} wanted, ${free} free of ${total}`,
  )
  const next =
    fits === 0
      ? 'Not one fits: delete sandboxes (`troupe reap` finds leftovers), use a smaller snapshot, or have the limit raised'
      : `At most ${fits} fit: lower --max-concurrent or --pool, delete what is not needed (\`troupe reap\` finds leftovers), or have the limit raised`
  return new TroupeError({
    tag: 'quota-too-small',
    message: `the account cannot hold ${sandboxes} sandboxes in region ${region}:\n${lines.join('\n')}\n${next}`,
    address: region,
    details: { sandboxes, fits, shortages },
  })
}

export const sandboxTooLarge = (region: string, shortages: readonly Omit<Shortage, 'free'>[]): TroupeError =>
  new TroupeError({
    tag: 'quota-too-small',
    message: `one sandbox of this size is more than the account allows in region ${region}: ${shortages
      .map(({ resource, wanted, total }) => `${wanted} ${UNITS[resource]} of at most ${total}`)
      .join(', ')}; ask for less, or use a smaller snapshot`,
    address: region,
    details: { shortages },
  })

const MAX_LISTED = 12

function toList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ')
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown
}
