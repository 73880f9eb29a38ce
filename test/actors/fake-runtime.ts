import { TroupeError } from '../../src/errors.ts'
import type { SandboxId } from '../../src/ids.ts'
import type { ProvisionRequest, Runtime, Sandbox } from '../../src/runtimes/runtime.ts'

/** A runtime whose creates and deletes take `createMs` and `deleteMs` of nobody's time: they end when the test says so. */
export class FakeRuntime implements Runtime {
  readonly name = 'fake'
  readonly requests: ProvisionRequest[] = []
  readonly existing = new Set<SandboxId>()
  /** False: creates wait for `finish`. */
  immediate = true
  /** Ignores aborts, as a provider that hangs does. */
  deaf = false
  failing: TroupeError | undefined
  undeletable = false
  readonly #pending: (() => void)[] = []

  async preflight(): Promise<void> {}

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    this.requests.push(request)
    if (this.failing !== undefined) throw this.failing
    if (!this.immediate)
      await new Promise<void>((resolve, reject) => {
        this.#pending.push(resolve)
        if (!this.deaf) request.signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
    const { id, labels } = request
    this.existing.add(id)
    return {
      id,
      labels,
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
