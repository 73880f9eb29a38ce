import { TroupeError } from '../errors.ts'

export function trajectoryNotData(cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'trajectory-not-data',
      message:
        'the trajectory holds something that is no plain data (a cycle, a symbol, a number beyond 64 bits); record only what JSON could hold',
    },
    cause,
  )
}

export function unreadableTrajectory(why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'unreadable-trajectory',
      message: `these bytes are no packed trajectory: ${why}; was the journal written by another version?`,
    },
    cause,
  )
}
