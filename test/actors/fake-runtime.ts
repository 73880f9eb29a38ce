import { TroupeError } from '../../src/errors.ts'
import type { SandboxId } from '../../src/ids.ts'
import type {
  ProviderPool,
  ProvisionPlan,
  ProvisionRequest,
  Runtime,
  Sandbox,
  SandboxOrigin,
} from '../../src/runtimes/runtime.ts'
import type { TokenBucket } from '../../src/runtimes/token-bucket.ts'

/** A runtime whose creates end at once, or when the test says so. What it can do beside creates is up to the test. */
export class FakeRuntime implements Runtime {
  readonly name = 'fake'
  readonly requests: ProvisionRequest[] = []
  readonly existing = new Set<SandboxId>()
  readonly plans: (ProvisionPlan | undefined)[] = []
  forks?: boolean
  providerPool?: ProviderPool
  creates?: TokenBucket
  diagnose?: NonNullable<Runtime['diagnose']>
  /** What becomes of a sandbox that is no fork. */
  origin: SandboxOrigin | undefined
  /** False: creates wait for `finish`. */
  immediate = true
  /** Ignores aborts, as a provider that hangs does. */
  deaf = false
  failing: TroupeError | undefined
  /** Fails forks alone. */
  forkFailing: TroupeError | undefined
  undeletable = false
  readonly #pending: (() => void)[] = []

  async preflight(plan?: ProvisionPlan): Promise<void> {
    this.plans.push(plan)
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    this.requests.push(request)
    if (this.failing !== undefined) throw this.failing
    if (this.forkFailing !== undefined && request.parent !== undefined) throw this.forkFailing
    if (!this.immediate)
      await new Promise<void>((resolve, reject) => {
        this.#pending.push(resolve)
        if (!this.deaf) request.signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
    const { id, labels } = request
    const origin = request.parent === undefined ? this.origin : 'fork'
    this.existing.add(id)
    return {
      id,
      labels,
      ...(origin === undefined ? {} : { origin }),
      address: { kind: 'unix', path: `/run/${id}` },
      sessionId: request.prewarm ? `sess-${id}` : undefined,
      dispose: async () => {
        if (this.undeletable) throw new TroupeError({ tag: 'still-there', message: 'the provider says no' })
        this.existing.delete(id)
      },
    }
  }

  /** Lets every create that waits come to its end. */
  finish(): void {
    for (const resolve of this.#pending.splice(0)) resolve()
  }

  async close(): Promise<void> {}
}

/** A provider's own pool, as a list of what it was asked. */
export class FakeProviderPool implements ProviderPool {
  readonly calls: string[] = []
  members = 0
  refusing: TroupeError | undefined
  uncountable = false
  undroppable = false

  async hold(size: number): Promise<void> {
    this.calls.push(`hold ${size}`)
    if (this.refusing !== undefined) throw this.refusing
  }

  async ready(): Promise<number> {
    this.calls.push('ready')
    if (this.uncountable) throw new TroupeError({ tag: 'down', message: 'no answer' })
    return this.members
  }

  async drop(): Promise<void> {
    this.calls.push('drop')
    if (this.undroppable) throw new TroupeError({ tag: 'still-there', message: 'the provider says no' })
    this.members = 0
  }
}
