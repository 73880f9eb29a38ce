import { createHash } from 'node:crypto'
import type { JobId, RunId } from '../../ids.ts'
import { PHASES, type Phase } from '../../rollout/run.ts'

/** The ids of one trace. They follow from what it is of, so that threads, the main thread and whoever looks for it name the same spans and need not tell each other. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the trace's own span is number 0. */
  spanId(number: number): string
}

/** Numbers of spans that one attempt at a rollout may have. */
const SPANS_OF_ATTEMPT = 1_024
const FIRST_TURN = 16
/** Turns of an attempt that have a span each. */
export const MOST_TURNS = 256

/** The trace of a run, retries and all. */
export const runTrace = (jobId: JobId, runId: RunId): TraceIds => makeIds(`run ${jobId} ${runId}`)

/** The trace of a training's step. */
export const stepTrace = (jobId: JobId, step: number): TraceIds => makeIds(`step ${jobId} ${step}`)

/** The number of a span of an attempt: the attempt itself, without a phase. */
export function attemptSpan(attempt: number, phase?: Phase): number {
  return attempt * SPANS_OF_ATTEMPT + (phase === undefined ? 0 : 1 + PHASES.indexOf(phase))
}

/** The number of the span of a further visit to a phase, and of a turn. */
export const secondCleanup = (attempt: number): number => attempt * SPANS_OF_ATTEMPT + 1 + PHASES.length
export const turnSpan = (attempt: number, turn: number): number => attempt * SPANS_OF_ATTEMPT + FIRST_TURN + turn

/** Whether a trace is among the share that is drawn: by its id, so that everybody decides the same. */
export function isDrawn({ traceId }: TraceIds, share: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < share * 2 ** 32
}

/** A W3C `traceparent`: what happens under it belongs to that span. */
export const toTraceparent = ({ traceId, spanId }: TraceIds, number: number): string =>
  `00-${traceId}-${spanId(number)}-01`

/** What a `traceparent` says; undefined where it is none, or where nobody is to draw the trace. */
export function parseTraceparent(value: unknown): { readonly traceId: string; readonly spanId: string } | undefined {
  if (typeof value !== 'string') return undefined
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(value) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && value.length !== TRACEPARENT_LENGTH))
    return undefined
  const isValid = !/^0+$/.test(traceId) && !/^0+$/.test(spanId)
  return isValid && (Number.parseInt(flags, 16) & SAMPLED) !== 0 ? { traceId, spanId } : undefined
}

const TRACEPARENT_LENGTH = 55
const SAMPLED = 1

function makeIds(what: string): TraceIds {
  const digits = createHash('sha256').update(what).digest('hex')
  const high = digits.slice(32, 40)
  const low = Number.parseInt(digits.slice(40, 48), 16)
  return {
    traceId: digits.slice(0, 32),
    spanId: number => high + ((low + number) % 2 ** 32).toString(16).padStart(8, '0'),
  }
}
