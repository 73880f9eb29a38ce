/** What a policy server refuses, in words. The HTTP status of each tag is in `http-errors.ts`. */
import { type ErrorData, TroupeError } from '../../errors.ts'

// Requests

/** `place` is where in the body, such as `inputs[3].samples[0]`. */
export function badRequest(place: string, problem: string): TroupeError {
  const message = place === '' ? problem : `${place}: ${problem}`
  return new TroupeError({ tag: 'bad-request', message, details: { param: place } })
}

export function bodyTooLarge(limitBytes: number): TroupeError {
  return new TroupeError({
    tag: 'body-too-large',
    message: `the body is larger than the ${limitBytes} bytes that are taken in one call; send the batch as several calls, cut between groups`,
    details: { limitBytes },
  })
}

export function unsupportedMediaType(): TroupeError {
  return new TroupeError({
    tag: 'unsupported-media-type',
    message: 'bodies are JSON; send content-type: application/json',
  })
}

export function unknownRoute(method: string, url: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-route',
    message: `there is no ${method} ${url}; there are /v1/chat/completions, /v1/models, /v1/models/{id}/train/… and /v2/models/…`,
  })
}

export function unknownModel(name: string, known: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'unknown-model',
    message: `there is no model '${name}' here; there is ${known.join(', ')}`,
    details: { param: 'model', known },
  })
}

export function unsupported(what: string, parameter: string, advice: string): TroupeError {
  return new TroupeError({
    tag: 'unsupported-parameter',
    message: `${what} is not supported: ${advice}`,
    details: { param: parameter },
  })
}

export function contextExceeded(promptTokens: number, context: number): TroupeError {
  return new TroupeError({
    tag: 'context-length-exceeded',
    message: `the prompt is ${promptTokens} tokens and the model's context is ${context}, of which at least one is for the reply; send fewer or shorter messages`,
    details: { param: 'messages', promptTokens, context },
  })
}

export function samplingQueueFull(limit: number): TroupeError {
  return new TroupeError({
    tag: 'queue-full',
    message: `${limit} completions are under way or waiting already; try again after a second, or ask for fewer at once`,
    details: { limit, retryAfterSeconds: 1 },
  })
}

export function trainingQueueFull(limit: number): TroupeError {
  return new TroupeError({
    tag: 'queue-full',
    message: `${limit} training calls are waiting already, and this one was not counted; try again when one of them has been answered`,
    details: { limit, retryAfterSeconds: 1 },
  })
}

export function modelsBusy(limit: number): TroupeError {
  return new TroupeError({
    tag: 'queue-full',
    message: `${limit} models are loaded and all in use, so no other can be loaded now; try again in a few seconds`,
    details: { limit, retryAfterSeconds: 3 },
  })
}

export function samplingTimeout(deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'sampling-timeout',
    message: `no completion within ${deadlineMs} ms; the machine is overloaded, or max_tokens is large for it`,
    details: { deadlineMs },
  })
}

export function serverClosing(): TroupeError {
  return new TroupeError({ tag: 'server-closing', message: 'the policy server is closing; this call was not counted' })
}

// Training

export function unknownLoss(name: string, known: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'unknown-loss',
    message: `there is no loss '${name}'; there is ${known.join(', ')}`,
    details: { param: 'loss_fn', known },
  })
}

export function lossConfig(loss: string, problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-request',
    message: `loss_fn_config: ${loss} ${problem}`,
    details: { param: 'loss_fn_config' },
  })
}

/** A trainer's `loss-not-finite` counts the data it was given; this names the datum as the caller knows it. */
export function lossNotFinite(datum: number | string, cause?: unknown): TroupeError {
  const place = typeof datum === 'number' ? `datum ${datum}` : datum
  return new TroupeError(
    {
      tag: 'loss-not-finite',
      message: `${place}: the loss is not finite, and nothing of this call was counted; look at its output_logprobs and reward`,
      details: { datum },
    },
    cause,
  )
}

export function nothingAccumulated(calls: number): TroupeError {
  const why =
    calls === 0
      ? 'no forward-backward since the last step'
      : `${calls} forward-backward calls since the last step, and no reward in them differed within its group`
  return new TroupeError({
    tag: 'nothing-accumulated',
    message: `there is no gradient to apply: ${why}; send groups whose rewards differ first`,
    details: { calls },
  })
}

export function alreadyCounted(callId: string): TroupeError {
  return new TroupeError({
    tag: 'already-counted',
    message: `call ${callId} was counted before and is not counted again; go on with the next one`,
    details: { callId },
  })
}

export function mixedSubsteps(before: string, now: string): TroupeError {
  return new TroupeError({
    tag: 'mixed-substeps',
    message: `calls of one optim-step must agree: those before had ${before}, this one has ${now}; send it after the optim-step, or like the others`,
  })
}

export function unknownForward(forwardId: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-forward',
    message: `there is no forward pass '${forwardId}': it was used, is one of the oldest, or the weights have changed since; make it again`,
    details: { param: 'forward_id' },
  })
}

// Catalogue

export function unknownCheckpoint(id: string, model: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-checkpoint',
    message: `model ${model} has no checkpoint '${id}'; list those it has, or name 'base'`,
    details: { param: 'checkpoint_id' },
  })
}

export function checkpointForgotten(id: string, kept: number): TroupeError {
  return new TroupeError({
    tag: 'checkpoint-forgotten',
    message: `the weights of checkpoint ${id} are gone: without a directory only the latest ${kept} are kept; give the server a directory`,
    details: { param: 'checkpoint_id' },
  })
}

export function modelExists(name: string): TroupeError {
  return new TroupeError({
    tag: 'model-exists',
    message: `there is a model '${name}' already; choose another name`,
    details: { param: 'name' },
  })
}

// Store and start

export function otherBase(directory: string): TroupeError {
  return new TroupeError({
    tag: 'other-base',
    message: `the checkpoints in ${directory} descend from another base than this one; give the base they were trained from, or another directory`,
    address: directory,
  })
}

export function directoryHeld(directory: string, pid: number): TroupeError {
  return new TroupeError({
    tag: 'policy-directory-held',
    message: `${directory} is in use by process ${pid}; end it, or give another directory`,
    address: directory,
    details: { pid },
  })
}

export function directoryUnusable(directory: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'policy-directory-unusable',
      message: `cannot keep checkpoints in ${directory}: ${reason(cause)}; give a directory that this user may write to`,
      address: directory,
    },
    cause,
  )
}

export function storeDamaged(name: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'checkpoint-damaged',
      message: `${name} cannot be read as a checkpoint; restore it from a copy, or give another directory`,
      address: name,
    },
    cause,
  )
}

export function portTaken(host: string, port: number, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'port-taken',
      message: `cannot listen on ${host}:${port}: ${reason(cause)}; give another port, or 0 for a free one`,
      address: `${host}:${port}`,
    },
    cause,
  )
}

export function policyServerLost(cause: ErrorData): TroupeError {
  return new TroupeError({
    tag: 'policy-server-lost',
    message: `the thread of the policy server ended unasked: ${cause.message}; start it again, what was accepted is kept if it has a directory`,
    cause,
  })
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
