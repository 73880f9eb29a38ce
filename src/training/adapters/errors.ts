import { TroupeError } from '../../errors.ts'

/** Of `user` errors the service says that the request was wrong, so nothing came of it; of others nobody can say. */
export function futureFailed(
  route: string,
  requestId: string,
  { error, category }: { readonly error: string; readonly category: string },
): TroupeError {
  return new TroupeError({
    tag: 'tinker-request-failed',
    address: requestId,
    message: `Tinker's ${route} (request ${requestId}) failed: ${error}. ${
      category === 'user'
        ? 'Nothing of it was done: correct what it names.'
        : 'Whether anything of it was done is unknown.'
    }`,
    details: { route, requestId, category, delivery: category === 'user' ? 'rejected' : 'unknown' },
  })
}

export function futureLate(route: string, requestId: string, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'tinker-late',
    address: requestId,
    message: `the result of Tinker's ${route} (request ${requestId}) was not there after ${deadlineMs} ms, so whether it was acted on is unknown. Look whether the service has room, or raise deadlineMs.`,
    details: { route, requestId, deadlineMs, delivery: 'unknown' },
  })
}

export function notACheckpoint(path: string): TroupeError {
  return new TroupeError({
    tag: 'not-a-checkpoint',
    address: path,
    message: `"${path}" is no version of a training through Tinker (tinker://RUN/sampler_weights/step-000001). Give the last checkpoint_id of its receipt, or leave resumeFrom out to begin anew.`,
  })
}

export function nothingAccumulated(): TroupeError {
  return new TroupeError({
    tag: 'nothing-accumulated',
    message:
      'nothing was accumulated since the last optimiser step, so there is nothing to apply. Call forwardBackward first.',
  })
}
