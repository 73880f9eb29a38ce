import { type Clock, sleep } from '../../clock.ts'
import type { GroupId } from '../../ids.ts'
import type { JobRecords } from '../../job/records.ts'
import type { Run } from '../../rollout/run.ts'
import type { AccumulatedState, Checkpoint, ForwardBackwardOptions, Trainer } from '../trainer.ts'
import { trainerCallLate } from './errors.ts'

/** What the trainer actor works with. Messages name groups; the runs behind them come from here. */
export interface TrainerPorts {
  readonly trainer: Trainer
  readonly records: JobRecords
  /** The runs of a group that are to be trained on. */
  readonly runsOf: (groupId: GroupId) => readonly Run[] | undefined
  readonly loss: Omit<ForwardBackwardOptions, 'groupSize'>
  readonly clock: Clock
  /** For each answer of the service. */
  readonly callDeadlineMs: number
  /** After a crash: how long an optimiser step that a dead process sent may still take to show. */
  readonly settleMs: number
}

/** The service's answer, or `trainer-call-late`. An answer that comes later is dropped. */
export async function ask<Value>(ports: TrainerPorts, what: string, call: () => Promise<Value>): Promise<Value> {
  const { clock, callDeadlineMs } = ports
  const done = new AbortController()
  const late = sleep(clock, callDeadlineMs, done.signal).then(() => {
    throw trainerCallLate(what, callDeadlineMs)
  })
  try {
    return await Promise.race([call(), late])
  } finally {
    done.abort()
    // It ends with the abort, and nobody else listens.
    late.catch(() => {})
  }
}

/** The tree; of a trainer without one, the version that it serves. */
export async function askCheckpoints(ports: TrainerPorts): Promise<readonly Checkpoint[]> {
  const { trainer } = ports
  if (trainer.checkpoints !== undefined)
    return ask(ports, 'what checkpoints there are', async () => (await trainer.checkpoints?.()) ?? [])
  const version = await ask(ports, 'which version it serves', () => trainer.policyVersion())
  return version === null ? [] : [toCheckpoint(version)]
}

function toCheckpoint(id: string): Checkpoint {
  return {
    id,
    name: null,
    parentId: null,
    isActive: true,
    createdAt: null,
    numDatums: null,
    numTokens: null,
    meanReward: null,
    learningRate: null,
    lossFn: null,
    metrics: {},
  }
}

/** Undefined where the service does not tell. */
export async function askState(ports: TrainerPorts): Promise<AccumulatedState | undefined> {
  if (ports.trainer.state === undefined) return undefined
  return ask(ports, 'what it has accumulated', async () => ports.trainer.state?.())
}
