import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { RuntimeConfig } from '../taskset/runtime-config.ts'
import type { Task } from '../taskset/task.ts'
import type { Address } from '../wire/address.ts'
import type { TokenBucket } from './token-bucket.ts'

/** How a sandbox came to be: made anew, claimed from a pool that the provider itself keeps warm, or forked from a running one. */
export type SandboxOrigin = 'cold' | 'claim' | 'fork'

/** How the sandbox under a lease came to be, told with every lease: `hit` was ready before it was asked for, wherever it came from. */
export type LeaseKind = 'hit' | SandboxOrigin

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
  /** To be a fork of this sandbox, which is forkable, used by nobody and being forked by nobody else. Only where `forks`. */
  readonly parent?: SandboxId
  /**
   * Called at most once, before `provision` answers, as soon as forks of the sandbox may be asked for. Never called where not `forks`. Of a fork it
   * also says that the fork itself is over: its parent may be forked again.
   */
  readonly onForkable?: () => void
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
  /** Absent: `cold`. */
  readonly origin?: SandboxOrigin
  /**
   * Gives back everything that `provision` took. `sessionEnded` says that the rollout saw the session's own goodbye, so that
   * a shared host need not be asked again. Safe to call twice; rejects only if the sandbox may still exist.
   */
  dispose(how: { readonly sessionEnded: boolean }): Promise<void>
}

/** What an engine is going to ask of a runtime, for what can be known to be impossible beforehand. */
export interface ProvisionPlan {
  /** Sandboxes that may exist at once, those of the provider's own pool included. */
  readonly sandboxes: number
  /** Whether sandboxes are to be claimed from the provider's own pool. */
  readonly providerPool: boolean
  /** All that sandboxes are for, verifiers that get one of their own included. Absent: whatever may come. */
  readonly tasks?: readonly Task[]
}

/** What a runtime makes of one task's `runtime_config`. */
export interface ConfiguredTask {
  /** What its sandbox will be: the runtime's own settings with the row's over them. */
  readonly config: RuntimeConfig
  /** What of the row it cannot do, each with the reason. Empty: all of it is applied. */
  readonly problems: readonly string[]
}

/** Sandboxes that the provider itself keeps warm, ready to be claimed by the next `provision`. */
export interface ProviderPool {
  /**
   * Has the provider hold `size` of them, taking over a pool that a dead owner left. Resolves when that is agreed, long before they exist; rejects
   * where claims could never succeed or somebody alive holds the pool.
   */
  hold(size: number): Promise<void>
  /** Unclaimed sandboxes that really exist now; never the provider's own count, which runs ahead. */
  ready(): Promise<number>
  /** Lets go of it and resolves when its unclaimed sandboxes are gone. Twice is once; rejects if some may still exist. */
  drop(): Promise<void>
}

/** Makes a bucket for an account, by a word that says nothing of its key. */
export type ShareCreates = (account: string) => TokenBucket

/** A place where sandboxes come from. One implementation a file; all pass the same contract test. */
export interface Runtime {
  /** `local`, `subprocess`, `url`, `docker`, `daytona`: for labels and messages. */
  readonly name: string
  /** True where a running sandbox can be forked, one fork at a time each. */
  readonly forks?: boolean
  /** Absent where the provider keeps no pools. */
  readonly providerPool?: ProviderPool
  /** Where its sandboxes are to be, where it has been told. */
  readonly region?: string | undefined
  /** The account's limit on creates, shared by all of this process who draw on the account. Absent: none is known. */
  readonly creates?: TokenBucket
  /**
   * Has `creates` keep to what `share` makes, too: the part of several machines' common limit that this one has, for the account of that word. To be called before
   * anything else.
   */
  shareCreates?(share: ShareCreates): void
  /**
   * Checks what it needs (bubblewrap, a key, a port) and rejects with an error that names what is missing. Makes no sandbox; may build what sandboxes
   * are made from. With a plan, also checks that the account can hold what is planned.
   */
  preflight(plan?: ProvisionPlan): Promise<void>
  /** False: each sandbox is made for its task, and none can be made ahead of one. Absent: true. */
  readonly prewarms?: boolean
  /**
   * Which kind of sandbox the task needs, where those that were made for no task in particular will not do: one with a `runtime_config` of its own, or
   * from another runtime behind this one. Undefined: any will do. Absent: any will do for every task, and no row may have a `runtime_config`.
   */
  kindOf?(task: Task): string | undefined
  /** What it makes of a task's `runtime_config`. Absent: it can do nothing of it. */
  configure?(task: Task): ConfiguredTask
  /** Problems with tasks that its environment would refuse (unknown template, bad arguments), all at once. Absent: not known beforehand. */
  checkTasks?(tasks: readonly Task[]): Promise<readonly string[]>
  /** Rejects with tagged data; `transient` where a new attempt may succeed. */
  provision(request: ProvisionRequest): Promise<Sandbox>
  /**
   * What is known of why a sandbox died or stopped answering, with the last output of its environment. Asked only after something has gone wrong;
   * undefined when it seems to be well. Never rejects.
   */
  diagnose?(id: SandboxId): Promise<ErrorData | undefined>
  /** Sandboxes of this runtime that exist now, whoever owns them. Absent where the provider cannot tell. */
  list?(): Promise<readonly { readonly id: string; readonly labels: Readonly<Record<string, string>> }[]>
  /**
   * Deletes what the engines of these owners have left (`toOwnerWord()` of each, which is on its sandboxes as a label), for whoever knows that they are dead; one that is seen to be alive is spared. With `job` only what they have of that job: they may be dead for it alone.
   * Resolves with how many are gone; rejects where some may still exist. Absent where sandboxes end with their engine.
   */
  reap?(owners: readonly string[], job?: string): Promise<number>
  /** Ends everything the runtime itself started (host processes, directories). Safe to call twice. */
  close(): Promise<void>
}
