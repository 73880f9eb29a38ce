import type { EvaluationRecord, StepRecord } from '../records.ts'
import { unreadableMark } from './errors.ts'
import type { CallRecord, OptimMark } from './ledger.ts'

/*
 * What a training keeps in its job's records:
 *
 *     training/base                            a Base
 *     training/steps/000003/call-0002          a CallRecord
 *     training/steps/000003/optim              an OptimMark
 *     training/steps/000003/record             the StepRecord: with it the step is over
 *     training/evaluations/000010/held-out     an EvaluationRecord
 */
export const BASE_KEY = 'training/base'
export const STEPS_PREFIX = 'training/steps/'
export const EVALUATIONS_PREFIX = 'training/evaluations/'

export const stepPrefix = (step: number) => `${STEPS_PREFIX}${padded(step, 6)}/`
export const callKey = (step: number, call: number) => `${stepPrefix(step)}call-${padded(call, 4)}`
export const optimKey = (step: number) => `${stepPrefix(step)}optim`
export const recordKey = (step: number) => `${stepPrefix(step)}record`
export const evaluationKey = (afterSteps: number, split: string) =>
  `${EVALUATIONS_PREFIX}${padded(afterSteps, 6)}/${split}`

/** Calls of one step in their order, and its optimiser mark. Throws `unreadable-mark`. */
export function parseStepMarks(records: ReadonlyMap<string, unknown>): {
  readonly calls: readonly CallRecord[]
  readonly optim: OptimMark | undefined
} {
  const calls: CallRecord[] = []
  let optim: OptimMark | undefined
  for (const [key, value] of records) {
    if (/\/call-\d+$/.test(key)) calls.push(parse<CallRecord>(key, value, 'call', 'groups', 'end'))
    else if (key.endsWith('/optim')) optim = parse<OptimMark>(key, value, 'type', 'learningRate')
  }
  return { calls, optim }
}

/** Records of steps that are over, by step. Throws `unreadable-mark`. */
export function parseStepRecords(records: ReadonlyMap<string, unknown>): readonly StepRecord[] {
  return [...records]
    .filter(([key]) => key.endsWith('/record'))
    .map(([key, value]) => parse<StepRecord>(key, value, 'step', 'runs', 'end', 'groups', 'wallMs'))
}

/** In the order of their steps. Throws `unreadable-mark`. */
export function parseEvaluations(records: ReadonlyMap<string, unknown>): readonly EvaluationRecord[] {
  return [...records].map(([key, value]) => parse<EvaluationRecord>(key, value, 'afterSteps', 'split', 'runs'))
}

/** What the model was when a training began. */
export interface Base {
  /** The served checkpoint; null for the model's own weights. */
  readonly head: string | null
  /** Optimiser steps it had had; null where the service does not tell. */
  readonly optimSteps: number | null
}

/** Undefined where it was never kept. Throws `unreadable-mark`. */
export function parseBase(records: ReadonlyMap<string, unknown>): Base | undefined {
  const value = records.get(BASE_KEY)
  return value === undefined ? undefined : parse<Base>(BASE_KEY, value, 'head', 'optimSteps')
}

/** Looks at the fields by which records are told apart, and trusts the rest: the journal's version says that this code wrote it. */
function parse<Kept>(key: string, value: unknown, ...fields: readonly string[]): Kept {
  const isWhole = typeof value === 'object' && value !== null && fields.every(field => field in value)
  if (!isWhole) throw unreadableMark(key)
  return value as Kept
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0')
}
