import { TroupeError } from '../../errors.ts'

export const badOption = (name: string, value: unknown, wanted: string): TroupeError =>
  new TroupeError({
    tag: 'daytona-bad-option',
    message: `${name} of a Daytona runtime is ${wanted}, not ${JSON.stringify(value)}`,
    details: { name },
  })

export const noCommand = (snapshot: string): TroupeError =>
  new TroupeError({
    tag: 'daytona-no-command',
    message: `nothing says how the environment of the snapshot ${snapshot} is served; give the runtime its \`command\`, or the \`image\` whose Dockerfile ends with one`,
    address: snapshot,
  })

export const leftBehind = (names: readonly string[], cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-left-behind',
      message: `may still exist at Daytona: ${names.join(', ')}; delete them with troupe reap, or wait until they stop by themselves`,
      details: { names },
    },
    cause,
  )
