import { TroupeError } from '../../../errors.ts'
import { engineLost, engineRefused, type LookedAt, noEngine } from '../errors.ts'

/** What fails with these has not been sent. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

/** What a call of the client library rejected with, as what it means. `what` completes "the engine would not …". */
export function toEngineError(what: string, engine: LookedAt, thrown: unknown): TroupeError {
  if (thrown instanceof TroupeError) return thrown
  const answer = readAnswer(thrown)
  if (answer !== undefined) return engineRefused(what, engine, answer.status, answer.said)
  const code = readConnectCode(thrown)
  return code === undefined ? engineLost(what, engine, thrown) : noEngine(engine, code, thrown)
}

/** `ENOENT` and the like; undefined where something may have been sent. */
function readConnectCode(thrown: unknown): string | undefined {
  const isOfConnect = thrown instanceof Error && 'syscall' in thrown && BEFORE_SENDING.has(thrown.syscall)
  return isOfConnect && 'code' in thrown ? String(thrown.code) : undefined
}

/** Status and words of an answer that was an error; undefined where there was no answer. */
function readAnswer(thrown: unknown): { readonly status: number; readonly said: string } | undefined {
  if (!(thrown instanceof Error) || !('statusCode' in thrown) || typeof thrown.statusCode !== 'number') return undefined
  const words = 'json' in thrown ? readWords(thrown.json) : undefined
  return { status: thrown.statusCode, said: words ?? thrown.message.replace(/^\(HTTP code \d+\) .*? - /, '').trim() }
}

function readWords(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('message' in body)) return undefined
  return typeof body.message === 'string' ? body.message : undefined
}
