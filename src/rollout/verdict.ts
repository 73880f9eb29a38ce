import type { AgentStop } from '../agents/agent.ts'
import type { ErrorData } from '../errors.ts'
import { isModelLost, isPromptUnfit, isSandboxLost } from './errors.ts'
import type { Outcome, Phase, StopReason } from './run.ts'

/** How an attempt ended, and who is answerable for it. */
export interface Verdict {
  readonly outcome: Outcome
  readonly stopReason: StopReason
  readonly error?: ErrorData
  readonly failedPhase?: Phase
  readonly retryable?: boolean
}

/** What an attempt was about when something failed. A verifier on a sandbox of its own goes through all of them in one phase. */
export type Step = 'provisioning' | 'connecting' | 'starting' | 'agent' | 'grading'

/** Who answers for an error depends on what it came in and on what it says of itself. */
export function blame(
  error: ErrorData,
  at: { readonly phase: Phase; readonly step: Step },
  cancelled: boolean,
): Verdict {
  const { phase: failedPhase, step } = at
  if (cancelled) return { outcome: 'cancelled', stopReason: 'cancelled', failedPhase, error }
  const isDeadline = error.tag === 'phase-deadline'
  if (step === 'provisioning') {
    const stopReason = isDeadline ? 'deadline' : 'provision-failed'
    return { outcome: 'infrastructure-error', stopReason, failedPhase, error, retryable: error.transient === true }
  }
  if (step === 'agent' && isModelLost(error)) {
    const retryable = error.transient === true
    return { outcome: 'infrastructure-error', stopReason: 'model-lost', failedPhase, error, retryable }
  }
  if (step === 'connecting' || isSandboxLost(error))
    return { outcome: 'infrastructure-error', stopReason: 'sandbox-lost', failedPhase, error, retryable: true }
  // Nobody was asked anything: grading that would be a zero that nobody has earned.
  if (step === 'agent' && isPromptUnfit(error))
    return { outcome: 'environment-error', stopReason: 'environment-threw', failedPhase, error }
  if (step === 'agent')
    return { outcome: 'agent-error', stopReason: isDeadline ? 'deadline' : 'agent-threw', failedPhase, error }
  return { outcome: 'environment-error', stopReason: isDeadline ? 'deadline' : 'environment-threw', failedPhase, error }
}

export const STOP: Readonly<Record<AgentStop, StopReason>> = {
  done: 'done',
  'max-steps': 'max-steps',
  length: 'length',
  'malformed-tool-call': 'malformed-tool-call',
}
