import type { Desks } from '../src/cluster/desks.ts'
import { type ErrorData, toErrorData } from '../src/errors.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { mergeStats } from '../src/pool/merge-stats.ts'
import type { Drained } from '../src/pool/pool.ts'
import type { PoolStats } from '../src/pool/stats.ts'
import type { DeskMessage, EndJob, ReapOwners } from './cluster-messages.ts'
import type { AskPoolStats, PoolMessage } from './messages.ts'

export interface ClusterPoolPorts {
  readonly desks: Desks<Ref<DeskMessage>>
  /** What the workers' pools are asked to be. */
  readonly asked: Pick<PoolStats, 'strategy' | 'source'>
  /** Whenever a worker has told what its pool has. */
  readonly onStats: (address: string, stats: PoolStats) => void
  /** See the dispatcher's. */
  readonly reaping: (owner: string) => () => void
  readonly onTrouble: (error: ErrorData) => void
}

const STATS_MS = 4_000
/** Below what the engine waits for its pool. */
const END_MS = 35_000
const REAP_MS = 20_000

/** In the place of a sandbox-pool where there are no sandboxes: stands for those of the workers, each of which owns its own. */
export function clusterPool(ports: ClusterPoolPorts): Actor<{ remaining: number }, PoolMessage> {
  const { desks } = ports
  return {
    name: 'sandbox-pool',
    initial(context) {
      // A worker that comes later is to know what is still to be made ready for.
      desks.onChange(() => context.self.tell({ type: 'pool-tick' }))
      return { remaining: 0 }
    },
    receive(state, message, context) {
      switch (message.type) {
        case 'demand':
          state.remaining = message.remaining
          share(state.remaining)
          return state
        case 'pool-tick':
          share(state.remaining)
          return state
        case 'pool-stats':
          answerStats(context)
          return state
        case 'drain-pool':
          answerDrained(context)
          return state
        default:
          // Nobody leases here.
          return state
      }
    },
  }

  function share(remaining: number): void {
    const each = Math.ceil(remaining / Math.max(1, desks.all.length))
    for (const desk of desks.all) desk.tell({ type: 'expect', rollouts: each })
  }

  function answerStats(context: Context<PoolMessage>): void {
    const { replyTo } = context
    const question: AskPoolStats = { type: 'pool-stats' }
    void Promise.all(
      desks.all.map(desk =>
        // One that does not answer is not counted: the dispatcher sees to it.
        context.ask(desk, question, STATS_MS).then(
          stats => {
            ports.onStats(desk.address, stats)
            return [stats]
          },
          () => [],
        ),
      ),
    ).then(all => replyTo?.tell(mergeStats(all.flat(), ports.asked)))
  }

  /** Before they end themselves: nobody else would be left to do it. */
  async function reapDead(context: Context<PoolMessage>): Promise<void> {
    const [desk] = desks.all
    const owners = [...desks.dead]
    if (desk === undefined || owners.length === 0) return
    const question: ReapOwners = { type: 'reap-owners', owners }
    const forgets = owners.map(ports.reaping)
    try {
      await context.ask(desk, question, REAP_MS)
      for (const forget of forgets) forget()
    } catch (error) {
      ports.onTrouble(toErrorData(error))
    }
  }

  function answerDrained(context: Context<PoolMessage>): void {
    const { replyTo } = context
    const question: EndJob = { type: 'end-job' }
    const end = async (desk: Ref<DeskMessage>): Promise<Drained> => {
      try {
        return await context.ask(desk, question, END_MS)
      } catch (error) {
        ports.onTrouble(toErrorData(error))
        return { quarantined: [] }
      }
    }
    const work = async () => {
      await reapDead(context)
      return Promise.all(desks.all.map(end))
    }
    void work().then(all => replyTo?.tell({ quarantined: all.flatMap(each => each.quarantined) }))
  }
}
