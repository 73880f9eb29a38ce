import { type ErrorData, TroupeError } from '../../src/errors.ts'
import { type SandboxId, toSandboxId } from '../../src/ids.ts'
import type { ProviderPool, ProvisionRequest, Runtime, Sandbox } from '../../src/runtimes/runtime.ts'
import { makeTokenBucket, type TokenBucket } from '../../src/runtimes/token-bucket.ts'
import type { Cuts, SimulatedNode } from './node.ts'
import { makeProviderPool } from './provider-pool.ts'
import type { ProviderFaults, Scenario } from './scenario.ts'
import type { World } from './world.ts'

/** One sandbox as its provider sees it. */
export interface Box {
  readonly id: SandboxId
  readonly prewarmed: boolean
  state: 'making' | 'live' | 'dead' | 'gone'
  /** Rollouts that came for it: one in its life. */
  guests: number
  /** The fork of it that is in flight. */
  fork: SandboxId | undefined
  /** Every delete of it fails. */
  readonly isUndead: boolean
  /** It once would not go, so that it may be there at the end, named. */
  resisted: boolean
  /** Ends what its sessions wait for, when it dies. */
  readonly sessions: Set<(error: Error) => void>
}

/** A runtime whose creates and deletes take drawn times, fail and hang, and whose sandboxes die. It keeps the book of what exists. */
export class SimulatedProvider implements Runtime {
  readonly name = 'simulated'
  readonly forks: boolean
  readonly providerPool?: ProviderPool
  readonly creates?: TokenBucket
  readonly diagnose?: (id: SandboxId) => Promise<ErrorData | undefined>
  /** Every sandbox that was ever asked for. */
  readonly boxes = new Map<SandboxId, Box>()
  most = 0
  readonly #world: World
  readonly #node: SimulatedNode
  readonly #faults: ProviderFaults
  readonly #scenario: Scenario
  #held = 0

  constructor(world: World, node: SimulatedNode, scenario: Scenario) {
    this.#world = world
    this.#node = node
    this.#scenario = scenario
    this.#faults = scenario.provider
    this.forks = scenario.provider.canFork
    if (scenario.provider.hasPool) this.providerPool = makeProviderPool(world, node, scenario.provider)
    if (scenario.provider.rate !== undefined) this.creates = makeTokenBucket(scenario.provider.rate)
    if (scenario.provider.diagnoses) this.diagnose = id => this.#diagnose(id)
  }

  /** The sandbox behind an address, if it answers. */
  reach(id: string): Box | undefined {
    const box = this.boxes.get(toSandboxId(id))
    return box?.state === 'live' ? box : undefined
  }

  /** A rollout has come for the sandbox with its lease. */
  visit(id: string, sessionId: string | undefined): void {
    const box = this.boxes.get(toSandboxId(id))
    if (box === undefined) {
      this.#world.violate(`a rollout was sent to ${id}, which was never made`)
      return
    }
    box.guests += 1
    if (box.guests > 1) this.#world.violate(`${id} was leased twice`)
    if (box.fork !== undefined) this.#world.violate(`${id} was leased while a fork of it was in flight`)
    if ((sessionId !== undefined) !== box.prewarmed) this.#world.violate(`${id} was leased with another's session`)
  }

  async preflight(): Promise<void> {}

  async close(): Promise<void> {}

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    const box = this.#open(request)
    const parent = request.parent === undefined ? undefined : this.boxes.get(request.parent)
    try {
      await this.#make(box, parent, request)
    } catch (error) {
      this.#gone(box)
      throw error
    } finally {
      endFork(parent, box)
    }
    box.state = 'live'
    this.#scheduleDeath(box, request)
    const origin = parent !== undefined ? 'fork' : this.providerPool !== undefined ? 'claim' : 'cold'
    return {
      id: box.id,
      labels: request.labels,
      origin,
      address: { kind: 'unix', path: `/run/${box.id}` },
      sessionId: box.prewarmed ? `sess-${box.id}` : undefined,
      dispose: () => this.#dispose(box),
    }
  }

  #open({ id, prewarm, parent }: ProvisionRequest): Box {
    const world = this.#world
    const box: Box = {
      id,
      prewarmed: prewarm,
      state: 'making',
      guests: 0,
      fork: undefined,
      isUndead: world.chance(this.#faults.undead),
      resisted: false,
      sessions: new Set(),
    }
    if (this.boxes.has(id)) world.violate(`${id} was created twice`)
    this.boxes.set(id, box)
    this.#held += 1
    this.most = Math.max(this.most, this.#held)
    const { maxSandboxes } = this.#scenario.pool
    if (this.#held > maxSandboxes) world.violate(`${this.#held} sandboxes where ${maxSandboxes} may be`)
    if (parent !== undefined) this.#beginFork(id, this.boxes.get(parent))
    return box
  }

  #beginFork(id: SandboxId, parent: Box | undefined): void {
    const world = this.#world
    if (parent === undefined) world.violate(`${id} was to be a fork of nothing`)
    else if (parent.fork !== undefined) world.violate(`${parent.id} was forked twice at once`)
    else if (parent.guests > 0) world.violate(`${parent.id} was forked while it was leased`)
    else parent.fork = id
  }

  async #make(box: Box, parent: Box | undefined, { signal, onForkable }: ProvisionRequest): Promise<void> {
    const world = this.#world
    const node = this.#node
    const faults = this.#faults
    const ms = world.duration(faults.createMs)
    if (this.forks)
      node.at(ms * world.random(), `may fork ${box.id}`, () => {
        if (box.state !== 'making') return
        endFork(parent, box)
        onForkable?.()
      })
    if (world.chance(faults.deafCreates)) {
      // Its provider hears nothing of it being called off; it comes much later, or never.
      box.resisted = true
      await node.wait(world.chance(0.5) ? Number.POSITIVE_INFINITY : 300_000, `late create of ${box.id}`)
      return
    }
    const isHung = world.chance(faults.hungCreates)
    try {
      await node.wait(isHung ? Number.POSITIVE_INFINITY : ms, `create of ${box.id}`, { signal })
    } catch (error) {
      await node.wait(world.duration(200), `clean-up of ${box.id}`)
      throw error
    }
    // Its own create may have failed after it was asked for.
    if (parent?.state === 'gone') throw new TroupeError({ tag: 'no-parent', message: 'it is gone', transient: true })
    if (parent !== undefined && world.chance(faults.noForks))
      throw new TroupeError({ tag: 'fork-unsupported', message: 'no forks here' })
    if (world.chance(faults.limitedCreates))
      throw new TroupeError({
        tag: 'too-many-requests',
        message: 'come back later',
        transient: true,
        details: { retryAfterMs: world.whole(1, 5_000) },
      })
    if (world.chance(faults.failedCreates))
      throw new TroupeError({ tag: 'no-luck', message: 'no sandbox today', transient: world.chance(0.7) })
  }

  #scheduleDeath(box: Box, { onLost }: ProvisionRequest): void {
    const world = this.#world
    if (!world.chance(this.#faults.deaths)) return
    const error = new TroupeError({ tag: 'sandbox-lost', message: `${box.id} died` })
    world.at(world.duration(this.#faults.lifeMs), `${box.id} dies`, () => {
      if (box.state !== 'live') return
      box.state = 'dead'
      this.#cut(box)
      if (world.chance(0.5)) this.#node.at(world.duration(50), `hears of ${box.id}`, () => onLost?.(error.data))
    })
  }

  async #dispose(box: Box): Promise<void> {
    const world = this.#world
    if (box.state === 'gone') return
    if (box.fork !== undefined) world.note(`${box.id} is deleted while it is forked`)
    if (world.chance(this.#faults.hungDeletes)) {
      box.resisted = true
      await this.#node.wait(Number.POSITIVE_INFINITY, `delete of ${box.id}`)
    }
    await this.#node.wait(world.duration(this.#faults.deleteMs), `delete of ${box.id}`)
    if (box.isUndead || world.chance(this.#faults.failedDeletes)) {
      box.resisted = true
      throw new TroupeError({ tag: 'still-there', message: 'the provider says no' })
    }
    this.#gone(box)
  }

  #gone(box: Box): void {
    if (box.state === 'gone') return
    box.state = 'gone'
    this.#held -= 1
    this.#cut(box)
  }

  #cut({ id, sessions }: Box): void {
    const lost = new TroupeError({ tag: 'session-lost', message: `${id} answers no more` })
    for (const cut of [...sessions]) cut(lost)
  }

  async #diagnose(id: SandboxId): Promise<ErrorData | undefined> {
    const world = this.#world
    if (world.chance(0.2)) await this.#node.wait(Number.POSITIVE_INFINITY, `diagnosis of ${id}`)
    await this.#node.wait(world.duration(500), `diagnosis of ${id}`)
    const box = this.boxes.get(id)
    return box?.state === 'dead' ? { tag: 'sandbox-died', message: `${id} ran out of luck` } : undefined
  }
}

/** What sessions on `box` depend on: it cuts them on the node where they live. */
export function cutsOf(box: Box, node: SimulatedNode): Cuts {
  const told = new Map<(error: Error) => void, (error: Error) => void>()
  return {
    add(cut) {
      const later = (error: Error) => void node.at(0, `loses ${box.id}`, () => told.has(cut) && cut(error))
      told.set(cut, later)
      box.sessions.add(later)
    },
    delete(cut) {
      const later = told.get(cut)
      told.delete(cut)
      if (later !== undefined) box.sessions.delete(later)
    },
  }
}

function endFork(parent: Box | undefined, child: Box): void {
  if (parent?.fork === child.id) parent.fork = undefined
}
