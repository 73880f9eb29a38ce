import type { LeaseId, SandboxId } from '../../src/ids.ts'
import type { PoolConfig } from '../../src/pool/pool-state.ts'
import { makeRandom } from '../../src/random.ts'
import { type Create, Simulation } from './simulation.ts'

/** The emulator's figures, in milliseconds: a create by how many are under way, a fork, and what a fork still takes to serve. */
const CREATE: readonly (readonly [number, number])[] = [
  [1, 2_700],
  [8, 2_800],
  [32, 3_300],
  [128, 5_100],
  [256, 9_900],
]
const FORK_MS = 660
const RESUME_MS = 1_120
const DELETE_MS = 500
const SPREAD = 0.06

interface Event {
  readonly at: number
  readonly happen: () => void
}

/** A simulated provider that takes its time, by a virtual clock. The same seed gives the same times. */
export class TimedProvider {
  readonly pool: Simulation
  readonly #random: () => number
  readonly #events: Event[] = []
  #underWay = 0

  constructor(config: Partial<PoolConfig>, seed = 1) {
    this.#random = makeRandom(seed)
    this.pool = new Simulation({ maxSandboxes: 1_000, maxWaiting: 1_000, ...config })
    this.pool.onCreate = create => this.#make(create)
    this.pool.onDelete = id => this.after(DELETE_MS, () => this.pool.deleted(id))
  }

  after(ms: number, happen: () => void): void {
    this.#events.push({ at: this.pool.now + ms, happen })
  }

  /** Asks for that many at once, and lets time pass until all are answered. Returns how long each waited, in ascending order. */
  burst(count: number): readonly number[] {
    const from = this.pool.now
    this.pool.demand(count + 1)
    const leases = Array.from({ length: count }, () => this.pool.lease({ deadlineMs: 120_000 }))
    this.until(() => leases.every(leaseId => this.pool.outcomes.has(leaseId)))
    return leases.map(leaseId => this.#leasedAt(leaseId) - from).sort((left, right) => left - right)
  }

  until(done: () => boolean): void {
    while (!done()) {
      const next = this.#events.reduce((first, event) => (event.at < first.at ? event : first), NEVER)
      if (next === NEVER) throw new Error('nothing is left to happen')
      this.#events.splice(this.#events.indexOf(next), 1)
      this.pool.advance(Math.max(0, next.at - this.pool.now))
      next.happen()
    }
  }

  #make({ id, parent }: Create): void {
    if (parent === undefined) {
      this.#underWay += 1
      // Everything sent at the same moment slows each other, the first too.
      this.after(0, () => {
        this.after(this.#spread(interpolate(CREATE, this.#underWay)), () => {
          this.#underWay -= 1
          this.#end(id)
        })
      })
      return
    }
    this.after(this.#spread(FORK_MS), () => {
      this.pool.forkable(id)
      this.after(this.#spread(RESUME_MS), () => this.#end(id))
    })
  }

  #end(id: SandboxId): void {
    if (this.pool.creating.get(id)?.cancelled === true) this.pool.createFailed({ tag: 'provision-cancelled' }, id)
    else this.pool.created(id)
  }

  #spread(ms: number): number {
    return ms * (1 + SPREAD * 2 * (this.#random() + this.#random() + this.#random() - 1.5))
  }

  #leasedAt(leaseId: LeaseId): number {
    const outcome = this.pool.outcomes.get(leaseId)
    if (outcome?.type !== 'leased') throw new Error(`${leaseId} was refused`)
    return outcome.at
  }
}

const NEVER: Event = { at: Number.POSITIVE_INFINITY, happen: () => {} }

function interpolate(points: readonly (readonly [number, number])[], x: number): number {
  let before = points[0] ?? [0, 0]
  for (const point of points) {
    if (x <= point[0])
      return point[0] === before[0]
        ? point[1]
        : before[1] + ((point[1] - before[1]) * (x - before[0])) / (point[0] - before[0])
    before = point
  }
  return before[1]
}
