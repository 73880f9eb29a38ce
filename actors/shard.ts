import type { GroupId } from '../src/ids.ts'
import type { Actor, Supervision } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { RolloutGroupMessage, ShardMessage } from './messages.ts'
import { type GroupPorts, rolloutGroup } from './rollout-group.ts'

interface ShardState {
  readonly groups: Map<string, { readonly groupId: GroupId; readonly ref: Ref<RolloutGroupMessage> }>
}

/** A group that fails has a defect; starting it again blindly could do its runs twice, so the supervisor decides. */
const stopFailedGroups: Supervision = {
  decide: () => 'stop',
  intensity: 0,
  periodMs: 1_000,
  backoff: { baseMs: 0, maxMs: 0 },
}

/** The root actor of one thread: hosts many rollout groups and nothing else. */
export function shard(ports: GroupPorts): Actor<ShardState, ShardMessage> {
  return {
    name: 'shard',
    supervision: stopFailedGroups,
    initial: () => ({ groups: new Map() }),
    receive(state, message, context) {
      switch (message.type) {
        case 'start-group': {
          const { groupId } = message.plan
          const ref = context.spawn(rolloutGroup(message, ports), `group-${groupId}`)
          context.watch(ref)
          state.groups.set(ref.address, { groupId, ref })
          return state
        }
        case 'cancel-groups':
          for (const { ref } of state.groups.values()) ref.tell(message)
          return state
        case 'ask-live':
          context.reply(message, ports.live.list(message.most))
          return state
      }
    },
    onSignal(state, signal) {
      const group = state.groups.get(signal.address)
      // Told when it has stopped, not when it fails: until then a member may still become durable.
      if (group === undefined || signal.type !== 'terminated') return state
      const { groupId } = group
      state.groups.delete(signal.address)
      if (signal.reason.type === 'failed')
        ports.supervisor.tell({ type: 'group-crashed', groupId, error: signal.reason.error })
      return state
    },
  }
}
