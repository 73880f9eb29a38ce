import { type ErrorData, TroupeError } from '../../errors.ts'

export function noKey(model: string, variable: string): TroupeError {
  return new TroupeError({
    tag: 'no-key',
    address: model,
    message: `the model "${model}" needs a key, and ${variable} is not set: export it, or name another endpoint in the agent's config. (A module as an agent is given by its path, such as ./agent.ts.)`,
    details: { model, variable },
  })
}

export function unauthorized(url: string, variable: string | undefined, status: number, words: string): TroupeError {
  const what =
    variable === undefined ? 'it asks for a key, and the endpoint names no apiKeyVariable' : `the key in ${variable}`
  return new TroupeError({
    tag: 'unauthorized',
    address: url,
    message: `${url} refused (HTTP ${status}) ${what}: ${words}`,
    details: { status },
  })
}

export function unknownModel(model: string, url: string, words: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-model',
    address: url,
    message: `${url} knows no model "${model}": ${words}. Check the slug and the endpoint's inferenceUrl.`,
    details: { model },
  })
}

export function chatRefused(url: string, status: number, words: string): TroupeError {
  return new TroupeError({
    tag: 'chat-refused',
    address: url,
    message: `${url} refused the request (HTTP ${status}): ${words}`,
    details: { status, words },
  })
}

/** Transient: the same rollout may go well a little later. */
export function chatUnavailable(url: string, attempts: number, last: string): TroupeError {
  return new TroupeError({
    tag: 'chat-unavailable',
    address: url,
    message: `${url} gave no completion in ${attempts} attempt${attempts === 1 ? '' : 's'}; the last one: ${last}. Check that the server is up and has room.`,
    details: { attempts, last },
    transient: true,
  })
}

export function retryTooLate(url: string, retryAfterMs: number, limitMs: number, last: string): TroupeError {
  return new TroupeError({
    tag: 'chat-unavailable',
    address: url,
    message: `${url} asks to wait ${Math.ceil(retryAfterMs / 1000)} s (Retry-After), more than the ${limitMs / 1000} s that a rollout waits: ${last}. Lower the concurrency, or raise the quota.`,
    details: { retryAfterMs, limitMs, last },
  })
}

/** Not transient: the time that a rollout has for its agent is used up. */
export function chatCutOff(url: string, why: string, reason: unknown): TroupeError {
  const cut = reason instanceof Error ? reason.message : String(reason)
  return new TroupeError(
    {
      tag: 'chat-unavailable',
      address: url,
      message: `${url} gave no completion until the rollout was cut: ${why}. Check that the server is up and has room. The cut: ${cut}`,
      details: { last: why },
    },
    reason,
  )
}

/** Transient: after the cool-down the endpoint may be back. */
export function endpointDown(
  origin: string,
  failures: number,
  retryInMs: number,
  last: ErrorData | string,
): TroupeError {
  const words = typeof last === 'string' ? last : last.message
  return new TroupeError({
    tag: 'endpoint-down',
    address: origin,
    message: `${origin} counts as down after ${failures} failed attempts in a row, the last one: ${words}. It is tried again in ${Math.ceil(retryInMs / 1000)} s.`,
    details: { failures, retryInMs },
    transient: true,
  })
}

export function badChatReply(url: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'bad-chat-reply',
    address: url,
    message: `${url} answered with what is no chat completion (${why}): check that inferenceUrl names an OpenAI-compatible server, up to and with /v1`,
  })
}

export function noTokenIds(url: string, turn: number, missing: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'no-token-ids',
    address: url,
    message: `return_token_ids was asked, and the reply of turn ${turn} has no ${missing.join(', no ')}: training on such runs would learn nothing. Use a model whose server gives them, or leave return_token_ids out.`,
    details: { turn, missing },
  })
}

export function tokenMismatch(url: string, turn: number, ids: number, logprobs: number): TroupeError {
  return new TroupeError({
    tag: 'token-mismatch',
    address: url,
    message: `the reply of turn ${turn} has ${ids} token ids and ${logprobs} logprobs, which must be as many: its tokens cannot be trained on; the fault is the server's`,
    details: { turn, ids, logprobs },
  })
}
