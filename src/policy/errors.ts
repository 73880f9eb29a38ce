/** What can go wrong with a policy, in words. */
import { TroupeError } from '../errors.ts'

export function notThatShape(what: string): TroupeError {
  return new TroupeError({
    tag: 'wrong-shape',
    message: `These weights are not of the model that is expected: ${what}. Load a policy file that was made for this shape.`,
  })
}

export function badModelShape(problem: string): TroupeError {
  return new TroupeError({ tag: 'bad-model-shape', message: `No model can have this shape: ${problem}. Correct it.` })
}

export function notLoaded(what: string): TroupeError {
  return new TroupeError({ tag: 'policy-not-loaded', message: `The ${what} has no weights yet. Call load first.` })
}

export function policyClosed(what: string): TroupeError {
  return new TroupeError({ tag: 'policy-closed', message: `The ${what} has been closed. Make a new one.` })
}

export function badSampleRequest(problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-sample-request',
    message: `These tokens cannot be sampled from: ${problem}. Correct the request.`,
  })
}

export function samplingCancelled(): TroupeError {
  return new TroupeError({ tag: 'sampling-cancelled', message: 'The request was cancelled before its sequence ended.' })
}

export function samplerFull(limit: number): TroupeError {
  return new TroupeError({
    tag: 'sampler-full',
    message: `${limit} requests wait for the sampler already. Ask again later, or with fewer at a time.`,
    details: { limit },
    transient: true,
  })
}

/** The weights put out no distribution: they have diverged. */
export function outputNotFinite(version: string): TroupeError {
  return new TroupeError({
    tag: 'output-not-finite',
    message: `The weights of version ${version} give no finite probabilities: training has diverged. Go back to an earlier version and lower the learning rate.`,
    details: { version },
  })
}

export function badDatum(index: number, problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-datum',
    message: `Datum ${index} cannot be trained on: ${problem}. Nothing of this call was added.`,
    details: { datum: index },
  })
}

export function lossNotFinite(index: number, what: string): TroupeError {
  return new TroupeError({
    tag: 'loss-not-finite',
    message: `The loss of datum ${index} is not finite: ${what}. Nothing of this call was added. See its rewards and log-probabilities, or go back to an earlier version.`,
    details: { datum: index },
  })
}

export function nothingAccumulated(): TroupeError {
  return new TroupeError({
    tag: 'nothing-accumulated',
    message: 'There is no gradient to step along: nothing was accumulated since the last step.',
  })
}

export function badOptimiser(problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-optimiser',
    message: `No step can be taken with these settings: ${problem}. Correct them.`,
  })
}

export function policyThreadLost(what: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'policy-thread-lost',
      message: `The thread of the ${what} ended before it answered. What it held is lost: start a new one and load the policy again.`,
    },
    cause,
  )
}

export function policyUnreadable(path: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'policy-unreadable',
      address: path,
      message: `${path} cannot be read as a policy: ${why}. Give the path of a policy file, or make it again.`,
    },
    cause,
  )
}

export function wrongTokenizer(path: string, expected: string, found: string): TroupeError {
  return new TroupeError({
    tag: 'wrong-tokenizer',
    address: path,
    message: `${path} was trained with another tokenizer (${found.slice(0, 12)}, expected ${expected.slice(0, 12)}): its token ids mean other texts. Load a checkpoint of the same policy.`,
    details: { expected, found },
  })
}

export function notEncodable(tool: string, problem: string): TroupeError {
  return new TroupeError({
    tag: 'not-encodable',
    message: `A call of ${tool} has no form in tokens: ${problem}. Correct the call, or the tool's parameters.`,
    details: { tool },
  })
}

export function demonstrationTooLong(source: string, tokens: number, context: number): TroupeError {
  return new TroupeError({
    tag: 'demonstration-too-long',
    message: `A demonstration of ${source} takes ${tokens} tokens and the context is ${context}. Show shorter turns, raise the context, or learn more merges.`,
    address: source,
    details: { tokens, context },
  })
}

export function badWarmUp(source: string, problem: string): TroupeError {
  return new TroupeError({
    tag: 'bad-warm-up',
    message: `No policy can be made from the demonstrations of ${source}: ${problem}. Correct its settings.`,
    address: source,
  })
}
