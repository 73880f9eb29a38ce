import { map } from 'rxjs'
import type { CollectorMessage, LeaseReply, PoolMessage } from '../../actors/messages.ts'
import type { Context } from '../../src/kernel/actor.ts'
import type { Link } from '../../src/kernel/link.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { toChunk } from '../../src/stream/chunk.ts'
import type { Mutation } from './mutation.ts'
import type { World } from './world.ts'

/** Defects, each of which some seeds must show. By what the part then does. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'a pool forgets releases': {
    pool: (pool, world) => ({
      ...pool,
      receive: (state, message, context) =>
        message.type === 'release' && world.chance(0.2) ? state : pool.receive(state, message, context),
      // What its owner's end would give back is forgotten too.
      onSignal: state => state,
    }),
  },
  'a pool lends a sandbox twice': {
    pool: (pool, world) => {
      const twist = makeTwist(world)
      return { ...pool, receive: (state, message, context) => pool.receive(state, message, twist(context)) }
    },
  },
  'a pool makes one sandbox too many': {
    poolOptions: options => ({ ...options, maxSandboxes: options.maxSandboxes + 1 }),
  },
  'a link brings batches in another order': { link: reordering },
  'a link loses a batch': {
    link: (link, world) => ({
      ...link,
      post: (bytes, attachments) => (world.chance(0.05) ? undefined : link.post(bytes, attachments)),
    }),
  },
  'a collector delivers a group twice': {
    collector: (ports, world) => ({
      ...ports,
      onGroup(group) {
        ports.onGroup(group)
        if (world.chance(0.1)) ports.onGroup(group)
      },
    }),
  },
  'a collector delivers a part of a group': {
    collector: (ports, world) => ({
      ...ports,
      onGroup: group => ports.onGroup(world.chance(0.1) ? { ...group, runs: group.runs.slice(1) } : group),
    }),
  },
  'a collector mixes up two runs': {
    collector: ports => ({
      ...ports,
      onGroup: group => ports.onGroup({ ...group, runs: [...group.runs].reverse() }),
    }),
  },
  'an ungraded run counts as zero': {
    group: ports => ({ ...ports, collector: ungradedAsZero(ports.collector) }),
  },
  'a run is told of before it is durable': {
    group: (ports, world) => ({
      ...ports,
      journal: {
        putGroup: group => ports.journal.putGroup(group),
        putRun: async (header, bytes) => (world.chance(0.1) ? undefined : ports.journal.putRun(header, bytes)),
      },
    }),
  },
  'a deadline is not taken back': {
    group: ports => ({
      ...ports,
      clock: {
        ...ports.clock,
        after(delayMs, wake) {
          ports.clock.after(delayMs, wake)
          return () => {}
        },
      },
    }),
  },
  'a supervisor is deaf to lost threads': {
    supervisor: actor => ({
      ...actor,
      receive: (state, message, context) =>
        message.type === 'shard-down' ? state : actor.receive(state, message, context),
    }),
  },
  'a supervisor is deaf to a cancelled group': {
    supervisor: (actor, world) => ({
      ...actor,
      receive: (state, message, context) =>
        message.type === 'group-cancelled' && world.chance(0.3) ? state : actor.receive(state, message, context),
    }),
  },
  'a chunk loses a group': {
    chunked: chunked => options => groups =>
      groups.pipe(
        chunked(options),
        map(chunk => toChunk(chunk.index, chunk.groups.slice(1))),
      ),
  },
}

/** Holds one batch back until the next has gone. */
function reordering(link: Link, world: World): Link {
  let held: (() => void) | undefined
  return {
    ...link,
    post(bytes, attachments) {
      const send = () => link.post(bytes, attachments)
      if (held === undefined && world.chance(0.05)) {
        held = send
        return
      }
      send()
      held?.()
      held = undefined
    },
  }
}

function ungradedAsZero(collector: Ref<CollectorMessage>): Ref<CollectorMessage> {
  return {
    address: collector.address,
    tell: message =>
      collector.tell(
        message.type === 'run-completed'
          ? { ...message, header: { ...message.header, reward: message.header.reward ?? 0 } }
          : message,
      ),
  }
}

/** A context whose questions are at times answered with what another was answered. */
function makeTwist(world: World): (context: Context<PoolMessage>) => Context<PoolMessage> {
  let before: Extract<LeaseReply, { readonly type: 'leased' }> | undefined
  const answer = (replyTo: Ref<unknown>): Ref<unknown> => ({
    address: replyTo.address,
    tell(reply) {
      if (!isLeased(reply)) return replyTo.tell(reply)
      if (before !== undefined && world.chance(0.2)) return replyTo.tell({ ...before, leaseId: reply.leaseId })
      before = reply
      return replyTo.tell(reply)
    },
  })
  return context =>
    Object.create(context, {
      replyTo: { get: () => (context.replyTo === undefined ? undefined : answer(context.replyTo)) },
    })
}

function isLeased(reply: unknown): reply is Extract<LeaseReply, { readonly type: 'leased' }> {
  return typeof reply === 'object' && reply !== null && 'type' in reply && reply.type === 'leased'
}
