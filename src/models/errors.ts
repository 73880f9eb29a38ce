import { TroupeError } from '../errors.ts'

/** What became of a request at the other end: counted there, certainly not, or nobody here can say. */
export type Delivery = 'accepted' | 'rejected' | 'unknown'

/** One request as its errors name it. `url` has neither query nor user in it. */
export interface CallName {
  readonly method: string
  readonly url: string
}

/** The answer that made it an error. `words` are the first of its body. */
export interface Refusal {
  readonly status: number
  readonly words: string
  readonly retryAfterMs?: number
}

/** What `thrown` says of the request that it ended: `rejected` for an error from before anything was sent. */
export function deliveryOf(thrown: unknown): Delivery {
  const delivery = thrown instanceof TroupeError ? thrown.data.details?.delivery : undefined
  return delivery === 'accepted' || delivery === 'unknown' ? delivery : 'rejected'
}

/** The HTTP status that `thrown` is about; undefined where there was none. */
export function statusOf(thrown: unknown): number | undefined {
  const status = thrown instanceof TroupeError ? thrown.data.details?.status : undefined
  return typeof status === 'number' ? status : undefined
}

export function noKey(variable: string, url: string): TroupeError {
  return new TroupeError({
    tag: 'no-key',
    address: url,
    message: `${url} asks for a key, and the environment variable ${variable} holds none; nothing was sent. Set ${variable}, or give { apiKey }; the embedded policy needs none.`,
    details: { variable },
  })
}

/** Nothing of the key is told. */
export function badKey(variable: string | undefined): TroupeError {
  const where = variable === undefined ? 'the option apiKey' : `the environment variable ${variable}`
  return new TroupeError({
    tag: 'bad-key',
    ...(variable === undefined ? {} : { address: variable }),
    message: `${where} holds characters that no key has, such as spaces, line breaks or "…"; nothing was sent. Copy the key again, whole.`,
    details: { variable },
  })
}

/** The tagged error of an answer that is no success. */
export function refused(call: CallName, refusal: Refusal, bodyBytes: number): TroupeError {
  const { status, words, retryAfterMs } = refusal
  const { tag, advice } = adviceFor(status, bodyBytes)
  const said = words === '' ? 'without a word' : `with: ${words}`
  return new TroupeError({
    tag,
    address: call.url,
    message: `${call.method} ${call.url} was answered ${status} ${said}. ${advice}`,
    details: {
      method: call.method,
      status,
      delivery: deliveryFor(status),
      ...(words === '' ? {} : { words }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(bodyBytes === 0 ? {} : { bytes: bodyBytes }),
    },
  })
}

/** `sentWhole`: the last byte of the request had been handed to the connection; without it no server can have acted on it. */
export function unreachable(call: CallName, sentWhole: boolean, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'service-unreachable',
      address: call.url,
      message: `${call.method} ${call.url} got no answer: ${firstLine(cause)}. ${
        sentWhole
          ? 'The request had been sent, so whether it was acted on is unknown.'
          : 'It was not sent whole, so it was not acted on. Check the address and the network; some services hang up on a body that is too large for them.'
      }`,
      details: { method: call.method, delivery: sentWhole ? 'unknown' : 'rejected' },
    },
    cause,
  )
}

export function tooLate(call: CallName, sentWhole: boolean, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'service-unreachable',
    address: call.url,
    message: `${call.method} ${call.url} was not answered within ${deadlineMs} ms${sentWhole ? ', so whether it was acted on is unknown' : ''}. Raise deadlineMs if it needs longer.`,
    details: { method: call.method, delivery: sentWhole ? 'unknown' : 'rejected', deadlineMs },
  })
}

/** A success whose body is not what it should be: the call counts, its result is lost. */
export function badReply(call: CallName, problems: readonly string[], words: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'bad-reply',
      address: call.url,
      message: `${call.method} ${call.url} succeeded with a reply that cannot be read (${problems.join('; ')}): ${words}. Is it a service of another version?`,
      details: { method: call.method, delivery: 'accepted', problems },
    },
    cause,
  )
}

export function clientClosed(url: string): TroupeError {
  return new TroupeError({
    tag: 'client-closed',
    address: url,
    message: `${url} was not called: this client is closed. Make another.`,
  })
}

export function unknownModel(model: string, url: string, near: readonly string[], cause?: unknown): TroupeError {
  const advice =
    near.length === 0 ? '`troupe models list` shows those there are.' : `Did you mean ${near.join(' or ')}?`
  return new TroupeError(
    {
      tag: 'unknown-model',
      address: url,
      message: `there is no model "${model}" at ${url}. ${advice}`,
      details: { model, near },
    },
    cause,
  )
}

export function unknownCheckpoint(model: string, checkpoint: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'unknown-checkpoint',
      address: model,
      message: `${model} has no checkpoint "${checkpoint}". \`troupe models checkpoints ${model}\` lists them.`,
      details: { model, checkpoint },
    },
    cause,
  )
}

function adviceFor(status: number, bodyBytes: number): { readonly tag: string; readonly advice: string } {
  if (status === 401 || status === 403)
    return { tag: 'unauthorized', advice: 'Check the key, and that its team may use this model.' }
  if (status === 413)
    return {
      tag: 'body-too-large',
      advice: `Its ${bodyBytes} bytes are over the service's limit: send fewer groups in a call.`,
    }
  if (status === 429) return { tag: 'rate-limited', advice: 'Wait, or ask for more.' }
  if (status >= 500) return { tag: 'service-error', advice: 'The service failed; whether it acted on it is unknown.' }
  return { tag: 'request-refused', advice: 'It was not acted on; correct what it names.' }
}

/** 408 is written by proxies that gave up waiting, too. */
function deliveryFor(status: number): Delivery {
  return status >= 500 || status === 408 ? 'unknown' : 'rejected'
}

function firstLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  return text.split('\n')[0] ?? ''
}
