import { TroupeError } from '../errors.ts'
import { STRATEGIES } from './level.ts'

export function unknownStrategy(name: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-strategy',
    message: `there is no strategy "${name}"; there are ${STRATEGIES.join(', ')}`,
  })
}

export function strategyImpossible(strategy: string, runtime: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-strategy-impossible',
    message: `the ${runtime} runtime cannot do ${strategy}: ${why}. Leave it out of --strategies, or use --runtime daytona (or --emulator).`,
    details: { strategy, runtime },
  })
}

export function tooManyDescriptors(level: number, needed: number, limit: number, fits: number): TroupeError {
  return new TroupeError({
    tag: 'ladder-descriptors',
    message: `level ${level} needs about ${needed} open files and this process may have ${limit}. Raise the limit (ulimit -n ${needed}), or leave out levels above ${fits}.`,
    details: { level, needed, limit, fits },
  })
}

export function notReady(strategy: string, withinMs: number): TroupeError {
  return new TroupeError({
    tag: 'ladder-not-ready',
    message: `what ${strategy} holds ready was not there within ${withinMs / 1_000} s`,
  })
}

export function sandboxesLeft(ids: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-sandboxes-left',
    message: `${ids.length} sandboxes would not go and may still exist: ${ids.join(', ')}. Delete them at their provider, or see \`troupe reap\`.`,
    details: { ids },
  })
}

export function cellClosed(): TroupeError {
  return new TroupeError({ tag: 'ladder-cell-closed', message: 'it was never opened, or has been closed' })
}

export function processLost(program: string, why: string): TroupeError {
  return new TroupeError({ tag: 'ladder-process-lost', message: `${program}: ${why}` })
}
