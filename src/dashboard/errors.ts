/** What a dashboard refuses, and why one is not served, in words. */
import { TroupeError } from '../errors.ts'

export function dashboardPortTaken(address: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'dashboard-port-taken',
      address,
      message: `${address} is in use, so no dashboard can be served there. Choose another port, or 0 for any that is free.`,
    },
    cause,
  )
}

export function dashboardNotServed(address: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'dashboard-not-served',
      address,
      message: `no dashboard can be served on ${address}: ${why}. Give an address of this machine as HOST:PORT, or a port alone for loopback.`,
    },
    cause,
  )
}

export function dashboardTokenShort(length: number, shortest: number): TroupeError {
  return new TroupeError({
    tag: 'dashboard-token-short',
    message: `the dashboard's token has ${length} characters, and fewer than ${shortest} are guessed. Give a longer one, or none, and one is made.`,
  })
}

export function foreignHost(host: string): TroupeError {
  return new TroupeError({
    tag: 'foreign-host',
    message: `this dashboard answers to localhost, 127.0.0.1 and [::1], and was asked as ${JSON.stringify(host)}. Open it under one of those, or serve it with HOST:PORT, which wants a token.`,
  })
}

export function foreignSite(): TroupeError {
  return new TroupeError({
    tag: 'foreign-site',
    message: 'this dashboard answers to no other site. Open its address in a tab of its own.',
  })
}

export function dashboardTokenWanted(): TroupeError {
  return new TroupeError({
    tag: 'dashboard-token-wanted',
    message:
      'this dashboard wants its token. Open the address that the command printed: it ends in /enter/ and the token.',
  })
}

export function notYet(): TroupeError {
  return new TroupeError({ tag: 'job-not-begun', message: 'the job has not begun. Try again in a moment.' })
}

export function noSuchRoute(path: string): TroupeError {
  return new TroupeError({
    tag: 'no-such-route',
    message: `there is nothing at ${JSON.stringify(path.slice(0, 200))}. The page is at /, its data at /feed, /runs/RUN, /jobs and /ladders.`,
  })
}

export function onlyRead(method: string): TroupeError {
  return new TroupeError({
    tag: 'only-read',
    message: `a dashboard is only read: use GET, and not ${method.slice(0, 20)}.`,
  })
}

export function runNotKept(runId: string, hint: string): TroupeError {
  return new TroupeError({
    tag: 'run-not-kept',
    message: `there is no run ${JSON.stringify(runId.slice(0, 100))} here. ${hint}`,
  })
}

export function runAmbiguous(text: string, ids: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'run-ambiguous',
    message: `${ids.length} runs or more begin with ${JSON.stringify(text.slice(0, 100))}: ${ids.slice(0, 5).join(', ')}. Give more of the id.`,
  })
}

export function jobNotHere(jobId: string, hint: string): TroupeError {
  return new TroupeError({
    tag: 'job-not-here',
    message: `there is no job ${JSON.stringify(jobId.slice(0, 100))} here. ${hint}`,
  })
}

export function ladderNotFound(name: string, names: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-not-found',
    message: `there is no ladder ${JSON.stringify(name.slice(0, 100))}. There are: ${names.join(', ')}; --receipts DIR looks for more.`,
  })
}

/** The status for each refusal. What is not here is a failure of ours. */
export const STATUS: Readonly<Record<string, number>> = {
  'dashboard-token-wanted': 401,
  'foreign-host': 403,
  'foreign-site': 403,
  'no-such-route': 404,
  'run-not-kept': 404,
  'run-ambiguous': 404,
  'job-not-here': 404,
  'ladder-not-found': 404,
  'only-read': 405,
  'too-many-watch': 503,
  'job-not-begun': 503,
  'journal-closed': 503,
}
