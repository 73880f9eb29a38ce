import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { Task } from '../taskset/task.ts'
import type { Address } from '../wire/address.ts'

/** How the sandbox under a lease came to be, told with every lease. */
export type LeaseKind = 'hit' | 'cold' | 'fork'

/** What a runtime is told about the sandbox it is to provide. */
export interface ProvisionRequest {
  /** Chosen by the pool before anything is created, so that a create whose answer is lost can be found and deleted. */
  readonly id: SandboxId
  /** The task it is for; absent when it is prewarmed for any task. */
  readonly task: Task | undefined
  /** `job`, `owner`, `expiry` and what else names the sandbox at its provider. */
  readonly labels: Readonly<Record<string, string>>
  /** True: come back with a session that is past `hello` and parked, so that a lease costs no round trip. */
  readonly prewarm: boolean
  /** Aborts when nobody wants the sandbox any more. `provision` then cleans up what it made and rejects. */
  readonly signal: AbortSignal
  /** Called at most once, if the sandbox dies by itself after `provision` answered. It must still be disposed of. */
  readonly onLost?: (error: ErrorData) => void
}

/** A sandbox that answers: where it is reached, and how it is given back. */
export interface Sandbox {
  readonly id: SandboxId
  readonly address: Address
  /** The parked session to resume; absent when the rollout says the first `hello`. */
  readonly sessionId: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /**
   * Gives back everything that `provision` took. `sessionEnded` says that the rollout saw the session's own goodbye, so that
   * a shared host need not be asked again. Safe to call twice; rejects only if the sandbox may still exist.
   */
  dispose(how: { readonly sessionEnded: boolean }): Promise<void>
}

/** A place where sandboxes come from. One implementation a file; all pass the same contract test. */
export interface Runtime {
  /** `local`, `subprocess`, `url`, `daytona`: for labels and messages. */
  readonly name: string
  /** Checks what it needs (bubblewrap, a key, a port) and rejects with an error that names what is missing. Costs nothing. */
  preflight(): Promise<void>
  /** Problems with tasks that its environment would refuse (unknown template, bad arguments), all at once. Absent: not known beforehand. */
  checkTasks?(tasks: readonly Task[]): Promise<readonly string[]>
  /** Rejects with tagged data; `transient` where a new attempt may succeed. */
  provision(request: ProvisionRequest): Promise<Sandbox>
  /** Sandboxes of this runtime that exist now, whoever owns them. Absent where the provider cannot tell. */
  list?(): Promise<readonly { readonly id: string; readonly labels: Readonly<Record<string, string>> }[]>
  /** Ends everything the runtime itself started (host processes, directories). Safe to call twice. */
  close(): Promise<void>
}
