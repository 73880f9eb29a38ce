import type { ErrorData } from '../errors.ts'
import type { GroupEnd, GroupStrategy } from './group.ts'
import type { RunHeader } from './run.ts'

/**
 * How a group whose members all have a terminal run ends. A member counts as graded when it has a reward, whatever else
 * went wrong with it: a run that was cut at its deadline and graded on what it left is as good as another.
 */
export function decideGroupEnd(strategy: GroupStrategy, runs: readonly RunHeader[]): GroupEnd {
  const graded = runs.filter(run => run.reward !== null).length
  const planned = runs.length
  if (graded === planned) return { type: 'complete' }
  const error = runs.find(run => run.reward === null)?.error
  const because = (reason: 'member-lost' | 'too-few-members' | 'no-member-graded'): GroupEnd => ({
    type: 'dropped',
    reason,
    ...withError(error),
  })
  if (graded === 0) return because('no-member-graded')
  switch (strategy.type) {
    case 'complete':
      return { type: 'complete' }
    case 'minimum':
      return graded >= strategy.members ? { type: 'partial', graded, planned } : because('too-few-members')
    case 'drop':
      return because('member-lost')
  }
}

function withError(error: ErrorData | undefined): { error?: ErrorData } {
  return error === undefined ? {} : { error }
}
