import type { CollectorPorts } from '../../actors/collector.ts'
import type { PoolMessage, SupervisorMessage } from '../../actors/messages.ts'
import type { GroupPorts } from '../../actors/rollout-group.ts'
import type { SandboxPoolOptions, SandboxPoolState } from '../../actors/sandbox-pool.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Link } from '../../src/kernel/link.ts'
import type { chunkGroups } from '../../src/stream/chunk-groups.ts'
import type { World } from './world.ts'

type Pool = Actor<SandboxPoolState, PoolMessage>

/** Where a defect can be put, by wrapping a part that works. */
export interface Mutation {
  readonly link?: (link: Link, world: World) => Link
  readonly poolOptions?: (options: SandboxPoolOptions) => SandboxPoolOptions
  readonly pool?: (pool: Pool, world: World) => Pool
  readonly collector?: (ports: CollectorPorts, world: World) => CollectorPorts
  readonly supervisor?: <State>(actor: Actor<State, SupervisorMessage>, world: World) => Actor<State, SupervisorMessage>
  readonly group?: (ports: GroupPorts, world: World) => GroupPorts
  readonly chunked?: (chunked: typeof chunkGroups, world: World) => typeof chunkGroups
}

export const unmutated: Required<Mutation> = {
  link: link => link,
  poolOptions: options => options,
  pool: pool => pool,
  collector: ports => ports,
  supervisor: actor => actor,
  group: ports => ports,
  chunked: chunked => chunked,
}
