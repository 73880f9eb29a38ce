import { type ErrorData, TroupeError } from '../errors.ts'
import type { Phase } from './run.ts'

export function phaseDeadline(phase: Phase, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'phase-deadline',
    message: `the phase "${phase}" did not end within ${deadlineMs} ms; raise deadlines.${phase} if that is normal for this task`,
    details: { phase, deadlineMs },
  })
}

/** The phase had time left, but not the rollout that it is a part of. */
export function rolloutDeadline(phase: Phase, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'phase-deadline',
    message: `the rollout did not end within ${deadlineMs} ms and was cut in the phase "${phase}"; raise deadlines.rollout if that is normal for this task`,
    details: { phase, deadlineMs },
  })
}

export function rolloutCancelled(): TroupeError {
  return new TroupeError({ tag: 'rollout-cancelled', message: 'the rollout was cancelled before it ended' })
}

/** The pool says that the sandbox is gone, before the rollout has noticed. */
export function leaseLost(phase: Phase): TroupeError {
  return new TroupeError({
    tag: 'lease-lost',
    message: `the sandbox died in the phase "${phase}" of its rollout`,
    details: { phase },
    transient: true,
  })
}

export function gradeIsError(content: unknown): TroupeError {
  return new TroupeError({
    tag: 'grade-error',
    message: `the environment's grader reported an error of its own${typeof content === 'string' ? `: ${content}` : ''}; the run has no reward`,
  })
}

export function badScore(score: unknown): TroupeError {
  return new TroupeError({
    tag: 'bad-score',
    message: `the environment graded with ${JSON.stringify(score) ?? String(score)}, which is no finite number; mend its template`,
  })
}

/** What the rollout saw, with what the runtime knows of why. */
export function becauseOf(error: ErrorData, why: ErrorData): ErrorData {
  const cause = why.cause === undefined && error.cause !== undefined ? { ...why, cause: error.cause } : why
  return { ...error, message: `${error.message}; its sandbox: ${why.message}`, cause }
}

/** Tags that say the road to the sandbox is gone, whoever noticed it. */
const LOST = new Set(['session-lost', 'connect-timeout', 'shell-lost', 'protocol-error', 'link-down'])

/** True when the sandbox, and neither the agent nor the environment's code, is at fault: a fresh one may do better. */
export function isSandboxLost(error: ErrorData): boolean {
  return LOST.has(error.tag) || error.transient === true
}

/** The agent cannot show what it was given to anybody. */
export function isPromptUnfit(error: ErrorData): boolean {
  return error.tag === 'bad-prompt'
}

/** Tags that say there was no model to ask: its endpoint is down, asks for what nobody gave, or gives what nobody can use. */
const MODEL_LOST = new Set([
  'chat-unavailable',
  'endpoint-down',
  'no-key',
  'bad-key',
  'unauthorized',
  'unknown-model',
  'bad-chat-reply',
  'no-token-ids',
  'agent-program-missing',
  'agent-program-failed',
])

/** True when the way to the model, and neither the agent nor its sandbox, is at fault. Such a run says nothing about the model. */
export function isModelLost(error: ErrorData): boolean {
  return MODEL_LOST.has(error.tag)
}
