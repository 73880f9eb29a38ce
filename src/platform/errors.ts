/** What can go wrong with HUD's platform, in words. */
import { TroupeError, toErrorData } from '../errors.ts'

/** One request as its errors name it: without query and key. */
export interface Call {
  readonly method: string
  readonly url: string
}

export function noPlatformKey(what: string): TroupeError {
  return new TroupeError({
    tag: 'no-key',
    message: `${what} needs a key, and the environment variable HUD_API_KEY holds none; nothing was sent. Set HUD_API_KEY, or give { apiKey }.`,
    details: { variable: 'HUD_API_KEY' },
  })
}

export function notAPlatformUrl(variable: string, text: string): TroupeError {
  return new TroupeError({
    tag: 'bad-platform-url',
    message: `${variable} is "${text}", which is not the address of a server. Write it like https://api.hud.ai, or leave it out.`,
    details: { variable },
  })
}

/** An answer to a report that is no success. `words` are the first of its body. */
export function reportRefused(call: Call, status: number, words: string, retryAfterMs?: number): TroupeError {
  const unauthorized = status === 401 || status === 403
  const said = words === '' ? '' : ` with: ${words}`
  const advice = unauthorized
    ? 'The run goes on without being reported. Check HUD_API_KEY, or turn reports off with --no-report.'
    : 'The run goes on; what was refused is counted as failed.'
  return new TroupeError({
    tag: unauthorized ? 'report-unauthorized' : 'report-refused',
    address: call.url,
    message: `${call.method} ${call.url} was answered ${status}${said}. ${advice}`,
    details: { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  })
}

export function reportUnanswered(call: Call, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'report-unanswered',
    address: call.url,
    message: `${call.method} ${call.url} was not answered within ${deadlineMs} ms. The run goes on; what was not answered is counted as failed.`,
    details: { deadlineMs },
  })
}

export function reportUnreachable(call: Call, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'report-unreachable',
      address: call.url,
      message: `${call.method} ${call.url} got no answer: ${toErrorData(cause).message}. The run goes on; what could not be sent is counted as failed.`,
    },
    cause,
  )
}

export function reportsDropped(traces: number, bytes: number): TroupeError {
  return new TroupeError({
    tag: 'reports-dropped',
    message: `reports are made faster than they are accepted, and ${traces} runs or ${bytes} bytes of them may wait: the oldest are dropped and counted. The run goes on.`,
    details: { traces, bytes },
  })
}

export function reportNotMade(runId: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'report-not-made',
      address: runId,
      message: `the run ${runId} could not be put into a report: ${toErrorData(cause).message}. The run itself is as it was.`,
    },
    cause,
  )
}

export function reportThreadLost(cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'report-thread-lost',
      message: `the thread that sends reports ended: ${toErrorData(cause).message}. The run goes on without being reported.`,
    },
    cause,
  )
}

export function reportNotRemembered(cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'report-not-remembered',
      message: `what has been reported could not be written down: ${toErrorData(cause).message}. If this job is taken up again, some of it is sent again, under the same ids.`,
    },
    cause,
  )
}

export function unknownPlatformTaskset(name: string, url: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-taskset',
    address: url,
    message: `there is no taskset "${name}" at ${url} for this key. Check its name or id, or make it with \`troupe sync <tasks> --to ${name}\`.`,
    details: { name },
  })
}

/** A call of the platform that failed, with what was being done. */
export function platformCallFailed(doing: string, status: number | undefined, cause: unknown): TroupeError {
  const { message, address, details } = toErrorData(cause)
  const unauthorized = status === 401 || status === 403
  const tag = unauthorized
    ? 'unauthorized'
    : status === 409
      ? 'taskset-conflict'
      : status !== undefined && status < 500 && status !== 429
        ? 'platform-refused'
        : 'platform-failed'
  const said = typeof details?.words === 'string' ? details.words : undefined
  const advice = unauthorized
    ? 'Check HUD_API_KEY, and that its team may use this taskset.'
    : status === 409
      ? 'Somebody else has changed it: look at the plan again, and sync again.'
      : status === 422 || status === 400
        ? 'Correct the rows that it names; nothing was changed.'
        : 'Try again later.'
  const why = status === undefined ? message : `it was answered ${status}${said === undefined ? '' : ` with: ${said}`}`
  return new TroupeError(
    {
      tag,
      ...(address === undefined ? {} : { address }),
      message: `${doing} failed: ${why}. ${advice}`,
      details: { ...(status === undefined ? {} : { status }) },
    },
    cause,
  )
}

export function tasksetNotEditable(name: string, url: string): TroupeError {
  return new TroupeError({
    tag: 'taskset-read-only',
    address: url,
    message: `the taskset "${name}" may not be changed with this key. Sync to a name of your own, or ask its owner; --export FILE reads it all the same.`,
    details: { name },
  })
}

export function notExportable(file: string): TroupeError {
  return new TroupeError({
    tag: 'unsupported-export',
    address: file,
    message: `${file} is no kind of file that rows are written to. Use .json, .jsonl or .csv.`,
  })
}
