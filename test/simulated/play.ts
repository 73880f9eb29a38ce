import { collector } from '../../actors/collector.ts'
import type { GroupPorts } from '../../actors/rollout-group.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { supervisor } from '../../actors/supervisor.ts'
import { type Engine, type EnginePorts, startEngine } from '../../src/assembly/engine.ts'
import { toEngineSettings } from '../../src/assembly/settings.ts'
import type { ActorSystem } from '../../src/kernel/system.ts'
import type { Drained } from '../../src/pool/pool.ts'
import { makeGate } from '../../src/rollout/gate.ts'
import { makeLiveBoard } from '../../src/rollout/live.ts'
import { chunkGroups } from '../../src/stream/chunk-groups.ts'
import type { GroupPlan } from '../../src/taskset/plan.ts'
import { simulatedAgent } from './agent.ts'
import { checkChunks } from './check-chunks.ts'
import { type Account, checkGroups } from './check-groups.ts'
import { SimulatedConsumer } from './consumer.ts'
import { simulatedClient } from './environment.ts'
import { GradeBook } from './grade-book.ts'
import { SimulatedJob } from './job.ts'
import { makeSimulatedDisk, type SimulatedDisk } from './journal.ts'
import { type Mutation, unmutated } from './mutation.ts'
import { SimulatedNode } from './node.ts'
import { JOB, leaveDurable, makePlans } from './plans.ts'
import { SimulatedProvider } from './provider.ts'
import { drawScenario, type Scenario } from './scenario.ts'
import { SimulatedThreads } from './threads.ts'
import { Watch } from './watch.ts'
import { World } from './world.ts'

/** Longer than anything takes that a run leaves behind when it ends: a clean-up, a hung create, a retry of a delete. */
const REST_MS = 400_000
const FINISHING_AT_ONCE = 4

export interface PlayOptions {
  readonly traced?: boolean
  readonly mutation?: Mutation
}

/** One seed, played to its end or to what was wrong with it. */
export interface Played {
  readonly seed: number
  readonly failure: string | undefined
  readonly account: Account | undefined
  readonly events: number
  readonly virtualMs: number
  readonly trace: readonly string[]
}

/** Plays the run that `seed` stands for. The same seed plays the same run. */
export async function play(seed: number, { traced = false, mutation = {} }: PlayOptions = {}): Promise<Played> {
  const world = new World(seed, traced)
  const onRejection = (reason: unknown) => world.violate(`a rejection nobody handles: ${String(reason)}`)
  process.on('unhandledRejection', onRejection)
  // Half of the errors here are made to be looked at by nobody.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const stage = new Stage(world, drawScenario(seed), mutation)
  let failure: string | undefined
  try {
    await stage.play()
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
    world.note(`FAILED ${failure}`)
  } finally {
    process.off('unhandledRejection', onRejection)
    Error.stackTraceLimit = stackTraceLimit
  }
  const { events, clock, trace } = world
  return { seed, failure, account: stage.account, events, virtualMs: clock.now(), trace }
}

class Stage {
  account: Account | undefined
  readonly #world: World
  readonly #scenario: Scenario
  readonly #mutation: Required<Mutation>
  readonly #main: SimulatedNode
  readonly #provider: SimulatedProvider
  readonly #disk: SimulatedDisk | undefined
  readonly #grades = new GradeBook()
  readonly #watch: Watch

  constructor(world: World, scenario: Scenario, mutation: Mutation) {
    this.#world = world
    this.#scenario = scenario
    this.#mutation = { ...unmutated, ...mutation }
    this.#main = new SimulatedNode(world, 'main', scenario.pace)
    this.#provider = new SimulatedProvider(world, this.#main, scenario)
    this.#disk = scenario.hasJournal ? makeSimulatedDisk(world, scenario.rollouts) : undefined
    this.#watch = new Watch(world, scenario)
  }

  async play(): Promise<void> {
    const world = this.#world
    const scenario = this.#scenario
    const plans = makePlans(scenario)
    if (this.#disk !== undefined) await leaveDurable(world, scenario, plans, this.#disk.kept, this.#grades)
    const job = new SimulatedJob({
      world,
      jobId: JOB,
      journal: this.#disk?.open(this.#main),
      maxWaitingBytes: scenario.maxWaitingBytes,
      startEngine: ports => this.#startEngine(ports),
    })
    if (scenario.cancelAtMs !== undefined) world.at(scenario.cancelAtMs, 'a cancel', () => void job.cancel())
    await this.#stream(job, plans)
    const left = plans.filter(({ groupId }) => !job.delivered.some(group => group.groupId === groupId))
    // What was cancelled can be run again by the same engine; one that gave up takes nothing more.
    if (left.length > 0 && scenario.runsAgain && job.failure === undefined) await this.#stream(job, left)
    await this.#rest(job)
    const drained = await world.settled(job.engine.close(), 'the end of the engine')
    this.#checkEnd(drained)
    this.account = await checkGroups({
      scenario,
      plans,
      delivered: job.delivered,
      grades: this.#grades,
      journal: this.#disk?.kept,
    })
    if (job.waiting.bytes !== 0) throw new Error(`${job.waiting.bytes} bytes still count as waiting`)
    await world.until(() => world.clock.pending === 0, 'the end of the last timer')
  }

  async #stream(job: SimulatedJob, plans: readonly GroupPlan[]): Promise<void> {
    const stream = job.start(plans)
    const ids = plans.map(({ groupId }) => groupId)
    const wrapped = this.#mutation.chunked(chunkGroups, this.#world)
    const consumer = new SimulatedConsumer(this.#world, this.#main, this.#scenario, stream, ids, wrapped)
    await this.#world.until(() => consumer.end !== undefined && job.isOver, 'the end of the run')
    const delivered = job.delivered.filter(({ groupId }) => ids.includes(groupId))
    checkChunks(this.#scenario, consumer, delivered)
    if (consumer.end === 'completed' && delivered.length !== ids.length)
      throw new Error(`the stream came to its end with ${delivered.length} of ${ids.length} groups`)
    const isExpected = job.failure !== undefined || String(consumer.error).includes('the run was cancelled')
    if (consumer.end === 'failed' && !isExpected) throw new Error(`the stream failed: ${String(consumer.error)}`)
  }

  /** When nothing is wanted any more, nothing is lent, and the pool's books balance. */
  async #rest(job: SimulatedJob): Promise<void> {
    await this.#world.pass(REST_MS)
    const stats = await this.#world.settled(job.engine.poolStats(), "the pool's figures")
    const { created, gone, creating, ready, parents, leased, deleting, quarantined, waiting } = stats
    if (leased > 0) throw new Error(`${leased} leases were never given back`)
    if (waiting > 0) throw new Error(`${waiting} requests wait for nobody`)
    if (created !== gone + creating + ready + parents.kept + leased + deleting + quarantined)
      throw new Error(`the pool's figures do not add up: ${JSON.stringify(stats)}`)
  }

  #checkEnd({ quarantined }: Drained): void {
    for (const { id, state, resisted } of this.#provider.boxes.values()) {
      if (state === 'gone') continue
      if (!resisted) throw new Error(`${id} is ${state} after the drain`)
      if (!quarantined.includes(id)) throw new Error(`${id} is ${state} after the drain, which does not name it`)
    }
    const hasResisted = [...this.#provider.boxes.values()].some(box => box.resisted)
    if (this.#main.timers > 0 && !hasResisted && !this.#watch.stopFailed)
      throw new Error(`${this.#main.timers} timers are left`)
  }

  #startEngine(ports: EnginePorts): Engine {
    const scenario = this.#scenario
    const world = this.#world
    const main = this.#main
    const watch = this.#watch
    const mutation = this.#mutation
    const observed = {
      onFailure: watch.failed.bind(watch),
      onDeadLetter: watch.deadLetter.bind(watch),
    }
    const settings = toEngineSettings({
      runtime: this.#provider,
      threads: scenario.threads,
      pool: scenario.pool,
      maxConcurrent: scenario.maxConcurrent,
      deadlines: scenario.deadlines,
      retries: scenario.retries,
      groupStrategy: scenario.strategy,
      deadGroupLimit: scenario.deadGroupLimit,
      maxWaitingBytes: scenario.maxWaitingBytes,
      clock: main.clock,
      ids: {
        hex: bytes =>
          world
            .whole(0, 2 ** 32 - 1)
            .toString(16)
            .padStart(2 * bytes, '0'),
      },
    })
    return startEngine(
      settings,
      ports,
      (system, supervisorRef, data) =>
        new SimulatedThreads({
          world,
          scenario,
          main,
          system,
          supervisor: supervisorRef,
          observed,
          watchLink: link => mutation.link(link, world),
          groupPorts: (node, threadSystem) =>
            mutation.group(
              {
                ...this.#groupPorts(node, threadSystem),
                pool: threadSystem.ref(data.pool),
                collector: threadSystem.ref(data.collector),
                supervisor: threadSystem.ref(data.supervisor),
              },
              world,
            ),
        }),
      {
        system: { random: main.random, scheduler: main.scheduler, encodeLocal: scenario.encodes, ...observed },
        sandboxPool: options =>
          watch.traced(watch.pool(mutation.pool(sandboxPool(mutation.poolOptions(options)), world))),
        collector: given => watch.traced(collector(mutation.collector(given, world))),
        supervisor: given => watch.traced(mutation.supervisor(supervisor(given), world)),
      },
    )
  }

  #groupPorts(node: SimulatedNode, system: ActorSystem): Omit<GroupPorts, 'pool' | 'collector' | 'supervisor'> {
    const scenario = this.#scenario
    const world = this.#world
    const faults = scenario.rollouts
    const agent = simulatedAgent(world, node, faults)
    const journal = this.#disk?.open(node)
    return {
      clock: system.clock,
      client: simulatedClient({ world, node, provider: this.#provider, grades: this.#grades, faults }),
      journal: journal ?? { putRun: async () => {}, putGroup: async () => {} },
      async agents() {
        await node.wait(world.duration(1), 'loads an agent')
        if (world.chance(faults.failedLoads)) throw new Error('the agent cannot be loaded')
        return agent
      },
      finishing: makeGate(FINISHING_AT_ONCE),
      live: makeLiveBoard(system.clock),
      deadlines: scenario.deadlines,
      retries: scenario.retries,
      strategy: scenario.strategy,
    }
  }
}
