import { type ErrorData, toErrorData } from '../../errors.ts'
import { type GroupId, toGroupId } from '../../ids.ts'
import type { Run } from '../../rollout/run.ts'
import { runsNotHere } from './errors.ts'
import {
  type CallEnd,
  type CallRecord,
  type DeliveryDrop,
  nextCall,
  type StepLedger,
  stateOf,
  withCall,
} from './ledger.ts'
import { callKey } from './marks.ts'
import { ask, askState, type TrainerPorts } from './trainer-ports.ts'

export interface ChunkToTrain {
  readonly step: number
  readonly groups: readonly GroupId[]
  /** Runs in each of the groups; null where all runs of the call are one group. */
  readonly groupSize: number | null
}

/** What became of a chunk's groups, those that had their end before included. */
export interface ChunkOver {
  readonly type: 'chunk-over'
  /** Number of the call in its step; null when nothing was left to be sent. */
  readonly call: number | null
  readonly consumed: readonly GroupId[]
  readonly dropped: readonly { readonly groupId: GroupId; readonly reason: DeliveryDrop }[]
  readonly datums: number
  readonly loss: number | null
  /** Milliseconds since 1970; 0 where nothing was sent. */
  readonly startedAt: number
  readonly tookMs: number
  readonly error: ErrorData | null
}

/** Sends those groups that never were, in one call that is journaled before and after. A call that fails is not made again. */
export async function sendChunk(
  ports: TrainerPorts,
  ledger: StepLedger,
  { groups, groupSize }: ChunkToTrain,
): Promise<{ readonly ledger: StepLedger; readonly reply: ChunkOver }> {
  const open = groups.filter(groupId => stateOf(ledger, groupId).type === 'pending')
  if (open.length === 0) return { ledger, reply: toReply(ledger, groups, undefined) }
  const runs = open.flatMap(groupId => findRuns(ports, groupId))
  const sending: CallRecord = {
    call: nextCall(ledger),
    groups: open,
    callsBefore: (await askState(ports))?.calls ?? null,
    end: { type: 'sending' },
  }
  const key = callKey(ledger.step, sending.call)
  await ports.records.put(key, sending)
  const over: CallRecord = { ...sending, end: await send(ports, runs, open, groupSize) }
  await ports.records.put(key, over)
  const after = withCall(ledger, over)
  return { ledger: after, reply: toReply(after, groups, over) }
}

async function send(
  ports: TrainerPorts,
  runs: readonly Run[],
  groups: readonly GroupId[],
  groupSize: number | null,
): Promise<CallEnd> {
  const { clock, trainer, loss } = ports
  const begun = clock.now()
  const startedAt = clock.wallTime()
  const tookMs = () => clock.now() - begun
  const options = groupSize === null ? loss : { ...loss, groupSize }
  try {
    const result = await ask(ports, 'forward-backward', () => trainer.forwardBackward(runs, options))
    return {
      type: 'over',
      accepted: groups,
      rejected: [],
      unknown: [],
      datums: result.numDatums,
      loss: result.metrics['loss:sum'] ?? null,
      tookMs: tookMs(),
      startedAt,
      error: null,
    }
  } catch (thrown) {
    const error = toErrorData(thrown)
    return { type: 'over', ...shareOut(groups, error), datums: 0, loss: null, tookMs: tookMs(), startedAt, error }
  }
}

/**
 * Where each group went in a call that failed: as its error's details say (`{ accepted, rejected, unknown }`, lists of group ids).
 * What they leave out is unknown, because nothing may be sent twice.
 */
function shareOut(groups: readonly GroupId[], { details }: ErrorData) {
  const named = (field: string): readonly GroupId[] => {
    const list: unknown = details?.[field]
    const ids = new Set(Array.isArray(list) ? list.filter(id => typeof id === 'string').map(toGroupId) : [])
    return groups.filter(groupId => ids.has(groupId))
  }
  const doubtful = new Set(named('unknown'))
  const accepted = named('accepted').filter(groupId => !doubtful.has(groupId))
  const rejected = named('rejected').filter(groupId => !doubtful.has(groupId) && !accepted.includes(groupId))
  const unknown = groups.filter(groupId => !accepted.includes(groupId) && !rejected.includes(groupId))
  return { accepted, rejected, unknown }
}

function findRuns({ runsOf }: TrainerPorts, groupId: GroupId): readonly Run[] {
  const runs = runsOf(groupId)
  if (runs === undefined) throw runsNotHere(groupId)
  return runs
}

function toReply(ledger: StepLedger, groups: readonly GroupId[], made: CallRecord | undefined): ChunkOver {
  const end = made?.end.type === 'over' ? made.end : undefined
  return {
    type: 'chunk-over',
    call: made?.call ?? null,
    consumed: groups.filter(groupId => stateOf(ledger, groupId).type === 'consumed'),
    dropped: groups.flatMap(groupId => {
      const state = stateOf(ledger, groupId)
      return state.type === 'dropped' ? [{ groupId, reason: state.reason }] : []
    }),
    datums: end?.datums ?? 0,
    loss: end?.loss ?? null,
    startedAt: end?.startedAt ?? 0,
    tookMs: end?.tookMs ?? 0,
    error: end?.error ?? null,
  }
}
