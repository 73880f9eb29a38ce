import type { ErrorData } from '../errors.ts'
import type { LevelFigures } from './level.ts'

/** Gathers errors until they are taken. */
export interface ErrorCount {
  add(error: ErrorData): void
  take(): readonly ErrorData[]
}

export function makeErrorCount(): ErrorCount {
  let errors: ErrorData[] = []
  return {
    add: error => void errors.push(error),
    take() {
      const taken = errors
      errors = []
      return taken
    },
  }
}

/** What the pool says is why it refused; what lies beneath is why the create failed: both are in the tag, as `pool-stopped<daytona-refused`. */
export function countByTag(errors: readonly ErrorData[]): LevelFigures['errors'] {
  const counts: Record<string, number> = {}
  for (const error of errors) {
    const tag = withCauses(error)
      .map(({ tag }) => tag)
      .join('<')
    counts[tag] = (counts[tag] ?? 0) + 1
  }
  return counts
}

function withCauses(error: ErrorData): readonly ErrorData[] {
  return error.cause === undefined ? [error] : [error, ...withCauses(error.cause)]
}
