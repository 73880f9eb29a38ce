import type { GroupId } from '../src/ids.ts'
import type { Actor } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { Group } from '../src/rollout/group.ts'
import { toRun } from '../src/rollout/pack.ts'
import type { Run, RunHeader } from '../src/rollout/run.ts'
import type { Conservation } from '../src/stream/conservation.ts'
import type { RunTrace } from '../src/telemetry/traces/run-trace.ts'
import type { CollectorMessage, SupervisorMessage } from './messages.ts'

export interface CollectorPorts {
  readonly supervisor: () => Ref<SupervisorMessage>
  /** Counts runs: completed = shipped + queued + dropped(reason). Throws when that does not hold. */
  readonly conservation: Conservation
  /** `trajectory` is the run's own, packed: to be read. */
  readonly onRun: (header: RunHeader, trajectory: Uint8Array, trace: RunTrace | undefined) => void
  readonly onGroup: (group: Group) => void
}

interface CollectorState {
  /** Members that have arrived, by run id, of groups that have not ended. Deleted when the group ends or is left. */
  readonly waiting: Map<GroupId, Map<string, Run>>
  /** Groups that ended, so that a straggling duplicate is known as one: until the supervisor says that nobody is left to send any. */
  readonly over: Set<GroupId>
}

/** Puts members together into groups and hands whole groups to the stream. The first terminal run of a member wins. */
export function collector(ports: CollectorPorts): Actor<CollectorState, CollectorMessage> {
  return {
    name: 'collector',
    // Bounded by credits: no more rollouts are in flight than the supervisor lets start.
    capacity: 1_000_000,
    initial: () => ({ waiting: new Map(), over: new Set() }),
    receive(state, message) {
      switch (message.type) {
        case 'run-completed': {
          const { groupId, runId } = message.header
          if (state.over.has(groupId)) return state
          const runs = state.waiting.get(groupId) ?? new Map<string, Run>()
          if (runs.has(runId)) return state
          state.waiting.set(groupId, runs.set(runId, toRun(message.header, message.trajectory)))
          ports.conservation.add(1)
          ports.onRun(message.header, message.trajectory, message.trace)
          ports.supervisor().tell({ type: 'run-over', groupId, runId })
          return state
        }
        case 'group-ended': {
          const { plan, end, losses } = message
          // From another start of a group that ended: its last word.
          if (state.over.delete(plan.groupId)) return state
          const arrived = state.waiting.get(plan.groupId)
          if (arrived === undefined) return state
          state.waiting.delete(plan.groupId)
          state.over.add(plan.groupId)
          const runs = plan.members.flatMap(({ runId }) => arrived.get(runId) ?? [])
          const { jobId, groupId, step, index, task } = plan
          const bytes = runs.reduce((sum, run) => sum + run.bytes, 0)
          if (end.type === 'dropped') ports.conservation.drop(end.reason, runs.length)
          else ports.conservation.ship(runs.length)
          ports.conservation.check()
          const graded = runs.filter(run => run.reward !== null).length
          ports.onGroup({ jobId, groupId, step, index, task, end, runs, bytes })
          const error = runs.find(run => run.reward === null)?.error
          const why = error === undefined ? {} : { error }
          ports.supervisor().tell({ type: 'group-over', groupId, losses, graded, ...why })
          return state
        }
        case 'group-closed':
          state.over.delete(message.groupId)
          return state
        case 'group-lost':
          ports.supervisor().tell({ type: 'group-lost-known', groupId: message.groupId })
          return state
        case 'group-left': {
          const arrived = state.waiting.get(message.groupId)
          if (state.waiting.delete(message.groupId) && arrived !== undefined)
            ports.conservation.drop('left-pending', arrived.size)
          state.over.delete(message.groupId)
          ports.supervisor().tell({ type: 'group-left-known', groupId: message.groupId })
          return state
        }
      }
    },
  }
}
