import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { AskDurable, GroupSoFar } from '../../actors/cluster-messages.ts'
import type { AgentSpec } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import type { Clock } from '../clock.ts'
import type { Credits } from '../cluster/credits.ts'
import { agentCannotTravel } from '../cluster/errors.ts'
import type { JobEntry } from '../cluster/job-board.ts'
import { fromSharedAgent } from '../cluster/places.ts'
import { pullPlans } from '../cluster/plan-pull.ts'
import { isMissing, MOST_DELIVERIES } from '../cluster/streams.ts'
import { untilAborted } from '../cluster/until-aborted.ts'
import { type PlanMessage, parsePlan } from '../cluster/wire.ts'
import { hasTag } from '../errors.ts'
import type { Engine } from './engine.ts'
import type { WorkerGroups } from './worker-groups.ts'

export interface WorkerPlansPorts {
  readonly connection: NatsConnection
  readonly entry: Pick<JobEntry, 'jobId' | 'life' | 'epoch'>
  readonly clock: Clock
  readonly credits: Credits
  readonly groups: WorkerGroups
  /** That the worker works for now: they share what is free. */
  readonly jobs: () => number
  /** Members of the first group, of which nobody knows. */
  readonly size: number
  /** The worker's part in the job is over. */
  readonly over: AbortSignal
  /** Asked until it is answered. */
  readonly askDurable: (question: AskDurable) => Promise<GroupSoFar>
  /** What was handed out before that cancel is given up. */
  readonly isCancelled: (generation: number) => boolean
  /** Nothing new is run. */
  readonly isLeaving: () => boolean
  readonly run: Engine['run']
  /** This worker cannot run what it was given. */
  readonly onBroken: (error: unknown) => void
  readonly onTrouble: (error: unknown) => void
}

export interface WorkerPlans {
  /** Rollouts for which plans are asked for now. */
  readonly claimed: number
  /** Takes nothing more. */
  close(): Promise<void>
}

/** Takes a job's plans as long as there are credits, and has each run here or handed back. */
export function takePlans(ports: WorkerPlansPorts): WorkerPlans {
  const { connection, clock, credits, groups, over, onTrouble } = ports
  const { jobId, life, epoch } = ports.entry
  /** Plans that are looked at before they run. */
  const begun = new Set<Promise<void>>()
  /** Until the group is over that has taken as many workers down as it may. */
  let suspect: Promise<void> | undefined
  let lastAgent: { readonly text: string; readonly checked: Promise<unknown> } | undefined
  /** Members of the last group: a claim is for groups like it. Of the first nobody knows, so one is claimed. */
  let { size } = ports
  let claimed = { groups: 0, size }
  let isIdle = false
  const unclaim = (unused: number) => {
    claimed = { ...claimed, groups: claimed.groups - unused }
    credits.giveBack(unused * claimed.size)
  }
  const pulling = pullPlans({
    connection,
    jobId,
    life,
    clock,
    claim() {
      // What a job without plans has claimed, another lacks.
      const share = isIdle ? 0 : 1 / ports.jobs()
      isIdle = true
      claimed = { groups: suspect === undefined ? credits.claim(size, share) : 0, size }
      return claimed.groups
    },
    giveBack: unclaim,
    room: signal => (suspect === undefined ? credits.room(signal) : Promise.race([suspect, untilAborted(signal)])),
    onPlan(message) {
      isIdle = false
      unclaim(1)
      // What is no plan is not given out again; all else ends with the job.
      begin(message).catch(error => {
        if (over.aborted) return
        onTrouble(error)
        if (hasTag(error, 'bad-cluster-message')) message.term('it is no plan')
      })
    },
    // Whoever takes the job over takes the consumer away.
    onError: error => over.aborted || isMissing(error) || onTrouble(error),
  })

  async function begin(message: JsMsg): Promise<void> {
    const received = parsePlan(message.subject, message.data)
    size = received.plan.members.length
    // Of a life that is over, or given up since: its coordinator knows.
    if (received.epoch !== epoch || ports.isCancelled(received.generation)) return message.ack()
    const losses = groups.receive(received, message)
    if (losses === undefined) return
    if (losses >= MOST_DELIVERIES) return groups.exhausted(received)
    if (suspect !== undefined || losses < MOST_DELIVERIES - 1) {
      const taking = take(received, message.redelivered, async () => suspect === undefined)
      begun.add(taking)
      return taking.finally(() => begun.delete(taking))
    }
    // One more worker lost, and it counts as lost: it gets this one to itself, so that those that only shared a worker with the culprit are not blamed.
    const { groupId } = received.plan
    let end = () => {}
    suspect = new Promise(resolve => {
      end = resolve
    })
    try {
      await take(received, message.redelivered, async () => {
        await pulling.idle()
        await Promise.allSettled(begun)
        await groups.alone(groupId)
        return true
      })
      await groups.gone(groupId)
    } finally {
      suspect = undefined
      end()
    }
  }

  /** Goes on with what is durable by now. `mayRun`: else somebody else is to. */
  async function take(received: PlanMessage, isRepeated: boolean, mayRun: () => Promise<boolean>): Promise<void> {
    const { plan, start, generation } = received
    let { durable } = received
    if (isRepeated) {
      const question: AskDurable = { type: 'ask-durable', groupId: plan.groupId, start }
      // Its room is nobody else's until it is known whether it comes.
      const held = plan.members.length
      credits.take(held)
      let answer: GroupSoFar
      try {
        answer = await ports.askDurable(question)
      } finally {
        credits.giveBack(held)
      }
      if (!answer.isWanted || ports.isCancelled(generation)) return groups.refuse(plan.groupId)
      durable = answer.durable
    }
    groups.add(received, durable)
    const isMine = !ports.isLeaving() && (await mayRun())
    if (!groups.has(plan.groupId)) return
    if (!isMine || ports.isLeaving()) return groups.handBack(undefined, plan.groupId)
    const agent = fromSharedAgent(received.agent, process.cwd())
    try {
      if (agent.kind === 'held') throw agentCannotTravel()
      await checkAgent(agent)
      ports.run([{ plan, durable: durable.map(header => ({ header, trajectory: NOTHING })) }], agent)
    } catch (error) {
      ports.onBroken(error)
    }
  }

  /** What it lacks here, a module or a key, is said before a sandbox is taken. */
  function checkAgent(agent: AgentSpec): Promise<unknown> {
    const text = JSON.stringify(agent)
    if (lastAgent?.text !== text) lastAgent = { text, checked: resolveAgent(agent) }
    return lastAgent.checked
  }

  return {
    get claimed() {
      return claimed.groups * claimed.size
    },
    close: pulling.close,
  }
}

const NOTHING = new Uint8Array(0)
