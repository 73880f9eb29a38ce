import type { SandboxId } from '../../src/ids.ts'

/** The provider's own account of forks: what it would fork, and what it is forking. Throws where the pool asks for what no provider does. */
export class ForkAccount {
  readonly forkables = new Set<SandboxId>()
  readonly #childOf = new Map<SandboxId, SandboxId>()
  readonly #parentOf = new Map<SandboxId, SandboxId>()

  get inFlight(): number {
    return this.#childOf.size
  }

  isForking(parent: SandboxId): boolean {
    return this.#childOf.has(parent)
  }

  begin(parent: SandboxId, child: SandboxId): void {
    if (!this.forkables.has(parent)) throw new Error(`${parent} cannot be forked`)
    if (this.#childOf.has(parent)) throw new Error(`two forks of ${parent} are in flight`)
    this.#childOf.set(parent, child)
    this.#parentOf.set(child, parent)
  }

  end(child: SandboxId): void {
    const parent = this.#parentOf.get(child)
    if (parent !== undefined && this.#childOf.get(parent) === child) this.#childOf.delete(parent)
  }

  gone(id: SandboxId): void {
    this.forkables.delete(id)
  }
}
