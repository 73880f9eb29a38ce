import { TroupeError } from '../errors.ts'

export function noProviderPool(runtime: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-strategy-impossible',
    message: `the ${runtime} runtime cannot do provider-pool: nobody keeps pools there. Use --source prewarm, or --runtime daytona (or --emulator).`,
    details: { strategy: 'provider-pool', runtime },
  })
}

export function noForks(runtime: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-strategy-impossible',
    message: `the ${runtime} runtime cannot do fork: it has nothing to fork. Use --runtime daytona (or --emulator), or measure a pool with \`troupe warmpool\`.`,
    details: { strategy: 'fork', runtime },
  })
}

export function tooManyParents(parents: number, width: number): TroupeError {
  return new TroupeError({
    tag: 'too-many-parents',
    message: `--parents ${parents} is more than --width ${width}, and so many are never kept: there would be a parent and more for each sandbox. Use --parents ${width} at most, or a larger --width.`,
    details: { parents, width },
  })
}
