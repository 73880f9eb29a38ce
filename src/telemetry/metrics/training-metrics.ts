import type { TrainingEvent } from '../../training/loop/events.ts'
import type { EvaluationRecord, StepRecord } from '../../training/records.ts'
import { makeBoundedLabel } from './bounded-label.ts'
import { METRICS } from './catalogue.ts'
import type { MetricsRegistry } from './registry.ts'

/** What a training tells. Its gauges go on where an earlier process's training was; its counters are this process's own. */
export function makeTrainingMetrics(registry: MetricsRegistry): (event: TrainingEvent) => void {
  const steps = registry.counter(METRICS.trainingSteps)
  const step = registry.gauge(METRICS.trainingStep)
  const loss = registry.gauge(METRICS.trainingLoss)
  const passRate = registry.gauge(METRICS.trainingPassRate)
  const spread = registry.gauge(METRICS.trainingSpread)
  const policyVersion = registry.gauge(METRICS.policyVersion)
  const stepSeconds = registry.histogram(METRICS.trainingStepSeconds)
  const chunks = registry.counter(METRICS.trainingChunks)
  const chunkSeconds = registry.histogram(METRICS.trainingChunkSeconds)
  const datums = registry.counter(METRICS.trainingDatums)
  const tokens = registry.counter(METRICS.trainingTokens)
  const evaluation = registry.gauge(METRICS.evaluationPassRate)
  const splitLabel = makeBoundedLabel()

  function showStep(record: StepRecord): void {
    step.set(record.step + 1)
    passRate.set(record.passRate)
    spread.set(record.groupSpread)
    if (record.loss !== null) loss.set(record.loss)
    if (record.optimStep !== null) policyVersion.set(record.optimStep)
  }

  function showEvaluation({ split, passRate: rate }: EvaluationRecord): void {
    evaluation.set(rate, { split: splitLabel(split) })
  }

  return event => {
    switch (event.type) {
      case 'resumed':
        for (const record of event.history.steps) showStep(record)
        for (const record of event.history.evaluations) showEvaluation(record)
        return
      case 'step-began':
        step.set(event.step + 1)
        return
      case 'chunk-trained':
        chunks.add(1, { status: event.error === null ? 'trained' : 'failed' })
        chunkSeconds.observe(event.tookMs / 1_000)
        datums.add(event.datums)
        return
      case 'step-ended': {
        const { end, rolloutMs, trainMs, wallMs } = event.record
        showStep(event.record)
        steps.add(1, { end: end.type })
        tokens.add(event.record.tokens)
        stepSeconds.observe(rolloutMs / 1_000, { part: 'rollouts' })
        stepSeconds.observe(trainMs / 1_000, { part: 'training' })
        stepSeconds.observe(wallMs / 1_000, { part: 'whole' })
        return
      }
      case 'evaluated':
        showEvaluation(event.record)
        return
      case 'rolled-back':
      case 'adopted':
      case 'stopped':
        return
    }
  }
}
