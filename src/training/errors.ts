import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'

/** A call whose body was cut. */
export interface BodySplit {
  readonly bytes: number
  readonly groups: number
  /** What `maxBodyBytes` said; absent where the service refused it. */
  readonly limitBytes?: number
}

export function noRuns(): TroupeError {
  return new TroupeError({
    tag: 'no-runs',
    message: 'there are no runs to train on. Skip the call when a batch is empty.',
  })
}

export function groupSizeMismatch(runs: number, groupSize: number): TroupeError {
  return new TroupeError({
    tag: 'group-size-mismatch',
    message: `${runs} runs do not divide into groups of ${groupSize}. Advantages are taken within whole groups: send a short group in a call of its own with its own groupSize, or leave it out.`,
    details: { runs, groupSize },
  })
}

export function badGroupSize(groupSize: number): TroupeError {
  return new TroupeError({
    tag: 'group-size-mismatch',
    message: `groupSize is ${groupSize}, not a whole number from 1 up. Give the number of runs in each group.`,
    details: { groupSize },
  })
}

/** `place`: of the first run that is out of place, from 0. */
export function groupNotTogether(groupId: string, place: number, runId: string, groupSize: number): TroupeError {
  return new TroupeError({
    tag: 'group-not-together',
    address: groupId,
    message: `run ${runId} (place ${place}) belongs to ${groupId}, which is not ${groupSize} runs side by side. The service takes every ${groupSize} runs in a row for a group: keep members together, and send a group that is short in a call of its own.`,
    details: { groupId, place, runId, groupSize },
  })
}

export function noReward(runId: string): TroupeError {
  return new TroupeError({
    tag: 'no-reward',
    address: runId,
    message: `run ${runId} has no reward: it was never graded, which is not a reward of 0. Leave its group out.`,
    details: { runId },
  })
}

export function noTokens(runId: string): TroupeError {
  return new TroupeError({
    tag: 'no-tokens',
    address: runId,
    message: `run ${runId} has no tokens to train on. Its agent must ask for them: completionKwargs: { extra_body: { return_token_ids: true } }, of a server that gives them.`,
    details: { runId },
  })
}

/** `turn`: from 0, of the run's turns. */
export function unequalTokens(runId: string, turn: number, ids: number, logprobs: number): TroupeError {
  return new TroupeError({
    tag: 'unequal-tokens',
    address: `${runId} turn ${turn}`,
    message: `turn ${turn} of run ${runId} has ${ids} output ids and ${logprobs} log-probabilities. Its sampler is at fault: leave its group out.`,
    details: { runId, turn, ids, logprobs },
  })
}

export function badLogprob(runId: string, turn: number, token: number, value: number): TroupeError {
  return new TroupeError({
    tag: 'bad-logprob',
    address: `${runId} turn ${turn}`,
    message: `the log-probability of output token ${token} in turn ${turn} of run ${runId} is ${value}. Its sampler is at fault: leave its group out.`,
    details: { runId, turn, token, value: String(value) },
  })
}

/** Nothing of the call was sent. */
export function badOption(name: string, value: unknown, wanted: string): TroupeError {
  return new TroupeError({
    tag: 'bad-training-option',
    message: `${name} is ${String(value)}; give ${wanted}. Nothing was sent.`,
    details: { name, value: String(value) },
  })
}

/** What became of each group of a call, by its id. */
export interface CallState {
  readonly accepted: readonly string[]
  readonly rejected: readonly string[]
  readonly unknown: readonly string[]
}

/** The error that ended a call, with what the service has of it. */
export function callFailed(thrown: unknown, state: CallState): TroupeError {
  const cause = toErrorData(thrown)
  const { accepted, rejected, unknown } = state
  const advice =
    unknown.length > 0
      ? 'Do not send those of unknown state again: they may count already.'
      : 'Those not accepted may be sent again.'
  return new TroupeError(
    {
      ...cause,
      message: `${cause.message} Of this call's groups ${accepted.length} are accepted, ${rejected.length} are not, of ${unknown.length} it is unknown. ${advice}`,
      details: { ...cause.details, ...state },
    },
    thrown,
  )
}

export function groupTooLarge(groupId: string, runs: number, bytes: number, limit: number | undefined): TroupeError {
  return new TroupeError({
    tag: 'group-too-large',
    address: groupId,
    message: `${groupId} alone is ${bytes} bytes for ${runs} runs, over the limit${limit === undefined ? ' of the service' : ` of ${limit}`}, and advantages need a group whole. Use smaller groups or shorter rollouts; without groupSize all runs of a call are one group.`,
    details: { groupId, runs, bytes, ...(limit === undefined ? {} : { limit }) },
  })
}

/** No error: said once, where a body was over the limit and its call went on in parts. */
export function bodySplit(split: BodySplit): ErrorData {
  return {
    tag: 'body-split',
    message: `a body of ${split.bytes} bytes with ${split.groups} groups is over ${split.limitBytes === undefined ? 'what the service takes' : `the limit of ${split.limitBytes}`}: it is sent in parts of whole groups, from now on without asking. Smaller chunks avoid it.`,
    details: { ...split },
  }
}

/** No error: the batch goes out, and adds nothing. */
export function noSpread(groups: number): ErrorData {
  return {
    tag: 'no-reward-spread',
    message: `in none of the ${groups} groups of a batch do rewards differ, so all advantages are 0 and it gives no gradient; an optimiser step after only such batches fails.`,
    details: { groups },
  }
}

export function lossNotFinite(metric: string, groupIds: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'loss-not-finite',
    message: `the service took the call and its metric ${metric} is no number: the gradient is spoilt. Take no optimiser step on it; setHead to the last good checkpoint, and look for extreme log-probabilities in the runs.`,
    details: { metric, groupIds },
  })
}

/** `datum`: from 0, in the order of the forward pass. */
export function badWeights(datum: number, problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-weights',
    address: `datum ${datum}`,
    message: `the custom loss gave weights that cannot be used: datum ${datum} ${problem}. Nothing was accumulated for this part; correct the function.`,
    details: { datum },
  })
}

export function stepUnknown(thrown: unknown): TroupeError {
  const cause = toErrorData(thrown)
  return new TroupeError(
    {
      ...cause,
      message: `${cause.message} If head() is another checkpoint than before, the step was taken; if not, it was not.`,
    },
    thrown,
  )
}

export function tooManyCalls(limit: number): TroupeError {
  return new TroupeError({
    tag: 'too-many-training-calls',
    message: `${limit} training calls wait already, and they are made one after the other. Await some before making more.`,
    details: { limit },
  })
}

export function encoderLost(cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'encoder-lost',
      message: 'the thread that encodes bodies ended before its work. Nothing of this call was sent; make it again.',
    },
    cause,
  )
}

export function encoderLate(deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'encoder-late',
    message: `a body was not encoded within ${deadlineMs} ms. Nothing of this call was sent; send fewer groups in a call.`,
    details: { deadlineMs },
  })
}

export function noTrainerFactory(path: string, name: string, names: readonly string[]): TroupeError {
  const hint = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}`
  return new TroupeError({
    tag: 'not-a-trainer',
    address: path,
    message: `${path} has no function "${name}" that makes a trainer; ${hint}. Export one with defineTrainer, and choose it with FILE#NAME where it is not the default.`,
    details: { path, name, names },
  })
}

/** `missing`: fields of what the factory gave. */
export function notATrainer(path: string, missing: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'not-a-trainer',
    address: path,
    message: `what ${path} makes is no trainer: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. docs/trainers.md has the whole of it.`,
    details: { path, missing },
  })
}
