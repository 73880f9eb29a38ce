import type { ShardMessage } from '../../actors/messages.ts'
import type { GroupPorts } from '../../actors/rollout-group.ts'
import { shard } from '../../actors/shard.ts'
import type { Agent, AgentRef } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import { TroupeError } from '../errors.ts'
import type { Deadlines } from '../job/options.ts'
import type { Journal, JournalSpec } from '../journal/journal.ts'
import { openLmdbJournal } from '../journal/lmdb-journal.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import { makeGate } from '../rollout/gate.ts'
import type { GroupStrategy } from '../rollout/group.ts'
import { makeLiveBoard } from '../rollout/live.ts'
import { makeControlClient } from '../wire/client.ts'

/** Memory at 4,096 wide grows with it, throughput does not: `npm run bench -- engine`. */
const FINISHING_AT_ONCE = 32

/** What a thread is told when it starts: data only. */
export interface ShardData {
  /** Addresses of the main thread's actors. */
  readonly pool: string
  readonly collector: string
  readonly supervisor: string
  readonly journal: JournalSpec | undefined
  readonly connections: 'shared' | 'each'
  readonly deadlines: Deadlines
  readonly retries: number
  readonly strategy: GroupStrategy
}

/** Starts the root actor of a thread, with the connections and the journal handle that its groups share. */
export async function startShard(
  system: ActorSystem,
  data: ShardData,
  held: ReadonlyMap<string, Agent> = new Map(),
): Promise<Ref<ShardMessage>> {
  const client = makeControlClient({ multiplex: data.connections === 'shared' ? 'auto' : 'never' })
  const journal =
    data.journal === undefined
      ? nothingKept
      : await openLmdbJournal({ directory: data.journal.directory, clock: system.clock, role: 'thread' })
  const ports: GroupPorts = {
    clock: system.clock,
    client,
    journal,
    agents: makeAgentSource(held),
    pool: system.ref(data.pool),
    collector: system.ref(data.collector),
    supervisor: system.ref(data.supervisor),
    finishing: makeGate(FINISHING_AT_ONCE),
    live: makeLiveBoard(system.clock),
    deadlines: data.deadlines,
    retries: data.retries,
    strategy: data.strategy,
  }
  const actor = shard(ports)
  return system.spawn({
    ...actor,
    async onStop() {
      await client.close()
      await journal.close()
    },
  })
}

/** Without a journal a finished run lives in the main thread's memory only, where the collector puts it. */
const nothingKept: Pick<Journal, 'putRun' | 'putGroup' | 'close'> = {
  putRun: async () => {},
  putGroup: async () => {},
  close: async () => {},
}

/** Agents that a thread keeps: each different `agent_config` makes one. */
const MOST_AGENTS = 64

/** Loads each agent once a thread, however many groups ask for it. */
function makeAgentSource(held: ReadonlyMap<string, Agent>): (ref: AgentRef) => Promise<Agent> {
  const loaded = new Map<string, Promise<Agent>>()
  return ref => {
    if (ref.kind === 'held') {
      const agent = held.get(ref.key)
      if (agent !== undefined) return Promise.resolve(agent)
      const message = 'a closure agent is held by another thread; run it with threads: 0, or make it a module'
      return Promise.reject(new TroupeError({ tag: 'agent-not-here', message }))
    }
    const key = JSON.stringify(ref)
    const known = loaded.get(key) ?? resolveAgent(ref)
    // Anew at the end: those that are asked for often stay.
    loaded.delete(key)
    loaded.set(key, known)
    for (const [oldest] of loaded) if (loaded.size > MOST_AGENTS) loaded.delete(oldest)
    return known
  }
}
