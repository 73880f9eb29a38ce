import { startTrainer } from '../../assembly/trainer.ts'
import { hasTag } from '../../errors.ts'
import type { GroupId } from '../../ids.ts'
import type { Run } from '../../rollout/run.ts'
import { type Kept, readHistory } from './history.ts'
import type { Loop } from './loop.ts'
import type { TrainSettings } from './options.ts'
import { makePolicyVersions, type PolicyVersions } from './policy-versions.ts'
import { runSteps } from './run-steps.ts'
import type { TrainerPorts } from './trainer-ports.ts'

/** Resolves when everything it started has ended; `wanted` is aborted by whoever wants that early. */
export async function runTraining(settings: TrainSettings, wanted: AbortController, emit: Loop['emit']): Promise<void> {
  const { signal } = settings
  const { lost } = settings.job
  const stopInOrder = () => wanted.abort(signal?.reason)
  if (signal?.aborted) stopInOrder()
  signal?.addEventListener('abort', stopInOrder, { once: true })
  // Whoever has the job now trains on: what is only at hand here is not sent.
  const giveUp = () => wanted.abort(lost?.reason)
  lost?.addEventListener('abort', giveUp, { once: true })
  const waitingRuns = new Map<GroupId, readonly Run[]>()
  const ports = toPorts(settings, waitingRuns)
  const trainer = startTrainer(ports)
  let isStopped = false
  try {
    const kept = await readHistory(settings, ports)
    if (kept.steps.length > 0 || kept.evaluations.length > 0 || settings.job.resumed)
      await emit({ type: 'resumed', history: { steps: kept.steps, evaluations: kept.evaluations } })
    await runSteps({ settings, trainer, policy: toPolicy(kept), waitingRuns, signal: wanted.signal, emit }, kept)
  } catch (error) {
    if (lost?.aborted) throw lost.reason
    // What a rollout stream that was stopped rejects with, or a step in between. Anything else is a failure of its own.
    isStopped = wanted.signal.aborted && (hasTag(error, 'run-cancelled') || error === wanted.signal.reason)
    if (!isStopped) throw error
  } finally {
    signal?.removeEventListener('abort', stopInOrder)
    lost?.removeEventListener('abort', giveUp)
    await trainer.close()
  }
  if (isStopped) await emit({ type: 'stopped' })
}

function toPorts(settings: TrainSettings, waitingRuns: ReadonlyMap<GroupId, readonly Run[]>): TrainerPorts {
  const { callDeadlineMs, clock, job, loss, rewardScale, settleMs, substeps, trainer } = settings
  return {
    trainer,
    records: job.records,
    runsOf: groupId => waitingRuns.get(groupId),
    loss: {
      lossFn: loss.name,
      ...(loss.config === undefined ? {} : { lossFnConfig: loss.config }),
      rewardScale,
      numSubsteps: substeps,
    },
    clock,
    callDeadlineMs,
    settleMs,
  }
}

function toPolicy({ base, steps }: Kept): PolicyVersions {
  const policy = makePolicyVersions(base.head)
  for (const { end } of steps) if (end.type === 'trained') policy.stepped(end.checkpointId)
  return policy
}
