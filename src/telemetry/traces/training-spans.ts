import type { SpanContext } from '@opentelemetry/api'
import type { Clock } from '../../clock.ts'
import type { JobId } from '../../ids.ts'
import { hide } from '../../redact.ts'
import type { RunHeader } from '../../rollout/run.ts'
import type { TrainingEvent } from '../../training/loop/events.ts'
import { isEvaluationStep } from '../../training/loop/schedule.ts'
import type { SpanData, Spans } from './open-spans.ts'
import { stepTrace } from './trace-ids.ts'

/** The spans of a training: a trace for each step, with its calls of the trainer, and one for each evaluation. */
export interface TrainingSpans {
  receive(event: TrainingEvent): void
  /** The span of the step or evaluation that is under way, for a run of it. */
  contextOf(run: Pick<RunHeader, 'step' | 'startedAt'>): SpanContext | undefined
  /** Steps and evaluations that have not ended by now never will. */
  end(): void
}

const OPTIMISER = 1
const FIRST_CALL = 2
const SAMPLED = 1

export function makeTrainingSpans(
  jobId: JobId,
  spans: Spans,
  clock: Clock,
  link: SpanContext | undefined,
): TrainingSpans {
  /** Since when steps are under way: one, and the next whose rollouts have begun; or an evaluation, of which a run is drawn. */
  const open = new Map<number, number>()

  function drawStep(step: number, rest: Pick<SpanData, 'startMs' | 'endMs' | 'attributes' | 'error'>): void {
    const ids = stepTrace(jobId, step)
    open.delete(step)
    spans.add({
      traceId: ids.traceId,
      spanId: ids.spanId(0),
      name: isEvaluationStep(step) ? 'evaluation' : 'training step',
      ...rest,
      attributes: { 'troupe.step': step, ...rest.attributes },
      ...(link === undefined ? {} : { links: [link] }),
    })
  }

  function drawCall(step: number, number: number, span: Omit<SpanData, 'traceId' | 'spanId' | 'parentId' | 'kind'>) {
    const ids = stepTrace(jobId, step)
    const place = { traceId: ids.traceId, spanId: ids.spanId(number), parentId: ids.spanId(0) }
    spans.add({ ...place, kind: 'client', ...span })
  }

  return {
    receive(event) {
      switch (event.type) {
        case 'step-began':
          open.set(event.step, clock.wallTime())
          return
        case 'chunk-trained': {
          const { step, call, startedAt, tookMs, datums, loss, error, consumed, dropped } = event
          drawCall(step, FIRST_CALL + call, {
            name: 'train chunk',
            startMs: startedAt,
            endMs: startedAt + tookMs,
            attributes: {
              'troupe.step': step,
              'troupe.training.call': call,
              'troupe.training.datums': datums,
              'troupe.training.groups': consumed.length,
              'troupe.training.groups_dropped': dropped.length,
              ...toLoss(loss),
            },
            ...(error === null ? {} : { error: { type: error.tag, message: error.message } }),
          })
          return
        }
        case 'step-ended': {
          const { record, optimCall } = event
          if (optimCall !== undefined)
            drawCall(record.step, OPTIMISER, {
              name: 'optimiser step',
              startMs: optimCall.startedAt,
              endMs: optimCall.startedAt + optimCall.tookMs,
              attributes: { 'troupe.step': record.step, 'troupe.training.learning_rate': record.learningRate },
            })
          // Absent in journals of earlier versions alone, whose steps are not told as having ended.
          const startMs = record.startedAt ?? clock.wallTime() - record.wallMs
          drawStep(record.step, {
            startMs,
            endMs: startMs + record.wallMs,
            attributes: {
              'troupe.training.end': record.end.type,
              'troupe.training.runs': record.runs,
              'troupe.training.pass_rate': record.passRate,
              'troupe.training.chunks': record.chunks,
              'troupe.training.datums': record.datums,
              ...toLoss(record.loss),
              ...(record.optimStep === null ? {} : { 'troupe.training.policy_version': record.optimStep }),
            },
          })
          return
        }
        case 'evaluated': {
          const { step, startedAt, record } = event
          drawStep(step, {
            startMs: startedAt,
            endMs: startedAt + record.wallMs,
            attributes: {
              'troupe.evaluation.split': hide(record.split),
              'troupe.evaluation.after_steps': record.afterSteps,
              'troupe.evaluation.runs': record.runs,
              'troupe.evaluation.pass_rate': record.passRate,
              'troupe.evaluation.errored': record.errored,
            },
          })
          return
        }
        case 'resumed':
        case 'rolled-back':
        case 'adopted':
        case 'stopped':
          return
      }
    },
    contextOf({ step, startedAt }) {
      // That an evaluation has begun is told by its runs alone.
      if (isEvaluationStep(step)) open.set(step, Math.min(startedAt, open.get(step) ?? startedAt))
      if (!open.has(step)) return undefined
      const ids = stepTrace(jobId, step)
      return { traceId: ids.traceId, spanId: ids.spanId(0), traceFlags: SAMPLED }
    },
    end() {
      for (const [step, startMs] of [...open])
        drawStep(step, { startMs, endMs: clock.wallTime(), error: { type: 'step-not-ended' } })
    },
  }
}

/** One that is no number has no place in JSON; such a call has an error that says so. */
function toLoss(loss: number | null) {
  return loss === null || !Number.isFinite(loss) ? {} : { 'troupe.training.loss': loss }
}
