import { deriveSeed, makeRandom } from '../random.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import { makeCensus } from './census.ts'
import { drawArrivals, drawDurations, steadyStepMs } from './draws.ts'
import { simulationStuck } from './errors.ts'
import type { JobShape, PoolPlan } from './job.ts'
import type { LatencyModel } from './latency-model.ts'
import type { Outcome, StepOutcome } from './outcome.ts'
import { makePoolDriver } from './pool-driver.ts'
import { makeProvider } from './provider.ts'
import { makeTimeline } from './timeline.ts'

/** A step while it lasts. */
interface OpenStep {
  readonly step: number
  beganMs: number
  readonly waitsMs: number[]
  readonly leases: Record<LeaseKind, number>
  refused: number
  left: number
}

/** The members of one group, by how long each works. */
interface QueuedGroup {
  readonly step: OpenStep
  readonly durationsMs: readonly number[]
}

/**
 * Runs a job on the engine's own pool and a simulated provider, by simulated time alone. Groups are handed in and started as the supervisor does it; retries are left
 * out. The same seed gives the same outcome, and any plan the same rollouts. Throws `bad-option` for a pool that no engine would take.
 */
export function simulate(job: JobShape, plan: PoolPlan, model: LatencyModel, seed: number): Outcome {
  const timeline = makeTimeline()
  const provider = makeProvider(timeline, makeRandom(deriveSeed(seed, 'provider')), model)
  const random = makeRandom(deriveSeed(seed, 'pool'))
  const pool = makePoolDriver({ plan, maxConcurrent: job.maxConcurrent, timeline, provider, random })
  const census = makeCensus()
  const steps: StepOutcome[] = []
  const queue: QueuedGroup[] = []
  /** First in the queue that has not started; what is before it is left in place until the step is over. */
  let next = 0
  let queued = 0
  let expected = 0
  let unfinished = 0
  let isOver = false
  /** When the pool was told of the next step, until its shelf is full. */
  let toldMs: number | undefined
  const fillsMs: number[] = []
  const shelf = toShelf(job, plan)

  const groups = Math.ceil(job.rollouts / job.group)
  const isSteady = job.arrivals.type === 'steady'

  function tellDemand(): void {
    pool.expect(queued + expected)
  }

  /** What will be handed in later. */
  function announce(rollouts: number): void {
    expected = rollouts
    tellDemand()
  }

  function begin(step: number): void {
    toldMs = undefined
    const durations = drawDurations(job, seed, step)
    const open: OpenStep = {
      step,
      beganMs: timeline.now(),
      waitsMs: [],
      leases: { hit: 0, cold: 0, claim: 0, fork: 0 },
      refused: 0,
      left: job.rollouts,
    }
    const arrivals = drawArrivals(job.arrivals, groups, job.group, seed, step)
    if (job.arrivals.type === 'staggered') announce(job.rollouts)
    if (job.arrivals.type === 'batch') {
      handIn(Array.from({ length: groups }, (_, place) => toGroup(open, durations, place)))
      return
    }
    arrivals.forEach((afterMs, place) => {
      timeline.after(afterMs, () => {
        if (place === 0) open.beganMs = timeline.now()
        handIn([toGroup(open, durations, place)])
      })
    })
  }

  const toGroup = (step: OpenStep, durations: readonly number[], place: number): QueuedGroup => ({
    step,
    durationsMs: durations.slice(place * job.group, (place + 1) * job.group),
  })

  function handIn(given: readonly QueuedGroup[]): void {
    for (const group of given) {
      queue.push(group)
      queued += group.durationsMs.length
      expected = Math.max(0, expected - group.durationsMs.length)
    }
    tellDemand()
    dispatch()
  }

  /** Whole groups, one after the other, as long as fewer rollouts than allowed are unfinished. */
  function dispatch(): void {
    while (unfinished < job.maxConcurrent) {
      const group = queue[next]
      if (group === undefined) break
      next += 1
      queued -= group.durationsMs.length
      unfinished += group.durationsMs.length
      for (const durationMs of group.durationsMs) start(group.step, durationMs)
    }
    if (next < queue.length) return
    queue.length = 0
    next = 0
  }

  function start(step: OpenStep, durationMs: number): void {
    const askedMs = timeline.now()
    const leaseId = pool.lease({
      onLeased(kind) {
        step.waitsMs.push(timeline.now() - askedMs)
        step.leases[kind] += 1
        timeline.after(durationMs, () => {
          pool.release(leaseId)
          finish(step)
        })
      },
      onRefused() {
        step.refused += 1
        timeline.after(0, () => finish(step))
      },
    })
  }

  function finish(open: OpenStep): void {
    unfinished -= 1
    open.left -= 1
    dispatch()
    if (open.left > 0) return
    const { step, beganMs, waitsMs, leases, refused } = open
    steps.push({ step, beganMs, latencyMs: timeline.now() - beganMs, waitsMs, leases, refused })
    if (steps.length === job.steps) {
      isOver = true
      pool.drain()
    } else if (!isSteady) rest(step + 1)
  }

  /** The gap before `step`, in which somebody trains. */
  function rest(step: number): void {
    const { leadMs } = plan
    if (leadMs !== undefined)
      timeline.after(job.gapMs - Math.min(leadMs, job.gapMs), () => {
        toldMs = timeline.now()
        announce(job.rollouts)
      })
    timeline.after(job.gapMs, () => begin(step))
  }

  function look(): void {
    const { ledger } = pool.state
    const ready = ledger.count('ready') + ledger.count('forking') + ledger.count('owed')
    if (toldMs !== undefined && ready >= shelf) {
      fillsMs.push(timeline.now() - toldMs)
      toldMs = undefined
    }
    census.look(timeline.now(), {
      alive: provider.alive,
      leased: ledger.count('leased'),
      ready,
      parents: ledger.count('root'),
      unclaimed: provider.unclaimed,
    })
  }

  if (job.arrivals.type === 'steady') {
    announce(job.rollouts * job.steps)
    for (let step = 0; step < job.steps; step += 1)
      timeline.after(step * steadyStepMs(job.arrivals.perSecond, job.rollouts), () => begin(step))
  } else begin(0)
  look()
  while (!(isOver && pool.isDrained && provider.alive === 0)) {
    if (!timeline.next()) throw simulationStuck(timeline.now())
    look()
  }
  return {
    steps: steps.toSorted((left, right) => left.step - right.step),
    seconds: census.seconds(),
    fillsMs,
    created: provider.created,
    createFailures: pool.state.createFailures,
    peak: census.peak,
    endedMs: timeline.now(),
    events: timeline.happened,
  }
}

/** What a told pool gets ready for the next step. */
function toShelf({ rollouts }: JobShape, { pool }: PoolPlan): number {
  return pool.strategy === 'cold' || pool.size === 'auto' ? Number.POSITIVE_INFINITY : Math.min(pool.size, rollouts)
}
