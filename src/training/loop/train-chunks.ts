import { fromErrorData } from '../../errors.ts'
import type { GroupId } from '../../ids.ts'
import type { Chunk } from '../../stream/chunk.ts'
import { lossNotFinite } from './errors.ts'
import type { InspectedGroup } from './inspect-group.ts'
import type { Loop } from './loop.ts'

/** Groups of a step that are not trained on, and why. */
export type Dropped = Map<GroupId, string>

export interface ChunkTrainerOptions {
  readonly step: number
  /** Resolves when the trainer has opened the step. */
  readonly opened: () => Promise<void>
  readonly inspected: ReadonlyMap<GroupId, InspectedGroup>
  readonly dropped: Dropped
  /** Optimiser steps that had been taken when the step's rollouts began. */
  readonly beganAt: number
}

/** Trains on one chunk after the other, without those groups whose weights lie too far back by now. */
export function makeChunkTrainer(loop: Loop, options: ChunkTrainerOptions): (chunk: Chunk) => Promise<void> {
  const { policy, settings, trainer, waitingRuns } = loop
  const { dropped, inspected, step } = options

  function isFresh(groupId: GroupId): boolean {
    const versions = inspected.get(groupId)?.versions.keys() ?? []
    if (policy.count - policy.oldest(versions, options.beganAt) <= settings.maxPolicyLag) return true
    dropped.set(groupId, 'stale')
    waitingRuns.delete(groupId)
    return false
  }

  return async chunk => {
    await options.opened()
    loop.signal.throwIfAborted()
    const groups = chunk.groups.map(({ groupId }) => groupId).filter(isFresh)
    const [first] = groups
    if (first === undefined) return
    const size = waitingRuns.get(first)?.length ?? 0
    const over = await trainer.trainChunk({ step, groups, groupSize: settings.group === 1 ? null : size })
    for (const groupId of groups) waitingRuns.delete(groupId)
    const { call, consumed, datums, error, loss, startedAt, tookMs } = over
    if (call === null) return
    await loop.emit({
      type: 'chunk-trained',
      step,
      call,
      consumed,
      dropped: over.dropped,
      datums,
      loss,
      startedAt,
      tookMs,
      error,
    })
    // Whoever sent it went on with what was accepted; a loss that is no number is never a matter of one call alone.
    if (loss !== null && !Number.isFinite(loss)) throw lossNotFinite(step, groups)
    if (error?.tag === 'loss-not-finite') throw fromErrorData(error)
  }
}
