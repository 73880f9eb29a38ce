import type { AgentRef } from '../src/agents/agent.ts'
import type { ErrorData } from '../src/errors.ts'
import type { RunId } from '../src/ids.ts'
import type { Journal } from '../src/journal/journal.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { GroupStrategy } from '../src/rollout/group.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import type { GroupPlan } from '../src/taskset/plan.ts'
import type { WorkersEvent } from '../src/telemetry/channels.ts'
import type { DeskMessage, WorkerNote } from './cluster-messages.ts'
import type { LimitPorts } from './dispatcher-limits.ts'
import type { CollectorMessage, SupervisorMessage } from './messages.ts'

/** One handing out of a group. */
export interface HandOut {
  readonly generation: number
  readonly start: number
  readonly losses: number
  readonly plan: GroupPlan
  readonly agent: AgentRef
  readonly durable: readonly RunHeader[]
  readonly traced?: number
}

export interface DispatcherPorts {
  readonly supervisor: Ref<SupervisorMessage>
  readonly collector: Ref<CollectorMessage>
  readonly strategy: GroupStrategy
  /** Runs that are still to come: what arrives and is not among them has been told before, or is of an earlier life. */
  readonly wanted: Set<RunId>
  /** Puts a plan into the stream, and tries until it is there. */
  readonly putPlan: (plan: HandOut) => void
  /** Keeps one that took as many workers down as may be among the dead letters, and says what is to be said of it. */
  readonly bury: (plan: HandOut) => ErrorData
  /** Workers that may be lost under a group; then its missing members count as lost. */
  readonly mostLosses: number
  /** Takes away the plans that nobody has ended. */
  readonly purgePlans: () => Promise<void>
  /** Resolves when all results that are in the stream have been told here. */
  readonly settled: () => Promise<void>
  /** The same for those that are in it now, whatever comes meanwhile. */
  readonly takenSoFar: () => Promise<void>
  /** Where the ends of groups are kept, and runs that came before their group was handed out in this life. */
  readonly journal: Pick<Journal, 'putGroup' | 'trajectory'> | undefined
  /** What keeps the worker from working for this job; undefined: nothing. */
  readonly judgeWorker: (worker: WorkerNote) => ErrorData | undefined
  /** A worker that is silent for longer is gone; then this is called. */
  readonly silenceMs: number
  readonly dropLink: (node: string, silentMs: number) => void
  /** A worker was lost, and may have left sandboxes; told again when it is back after all, or when they are gone. */
  readonly onDead: (owner: string, isDead: boolean) => void
  /** So long after that the others delete them: one that was only cut off has given them back itself by then. */
  readonly reapAfterMs: number
  /** Before that; what it returns is called when nothing of the owner is left, and takes its leases away. */
  readonly reaping: (owner: string) => () => void
  /** Who works now, whenever that changes. */
  readonly onWorkers: (desks: readonly Ref<DeskMessage>[]) => void
  /** As `BookView` has it. */
  readonly sandboxesOf: (address: string) => number | null
  /** What is known of the workers, for people: once a second while there are any, and soon after one has come or gone. */
  readonly onFigures: (figures: Omit<WorkersEvent, 'jobId'>) => void
  readonly onTrouble: (error: ErrorData) => void
  /** The coordinators of other jobs, whose workers draw on the same accounts. */
  readonly limits: LimitPorts
}
