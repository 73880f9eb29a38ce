import type { Agent, AgentStop } from '../agents/agent.ts'
import type { Clock } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import type { LeaseId, SandboxId } from '../ids.ts'
import type { Deadlines } from '../job/options.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import type { Task } from '../taskset/task.ts'
import type { Address } from '../wire/address.ts'
import type { ControlClient, ControlSession, GradeFrame } from '../wire/session.ts'
import type { Shell } from '../wire/shell.ts'
import { badScore, becauseOf, gradeIsError, isModelLost, isSandboxLost, leaseLost } from './errors.ts'
import { makePhases, type Phases } from './phases.ts'
import type { Outcome, Phase, PhaseTimings, StopReason } from './run.ts'
import type { Trajectory, Turn } from './trajectory.ts'

/** A sandbox on loan to one rollout. */
export interface Leased {
  readonly leaseId: LeaseId
  readonly sandboxId: SandboxId
  readonly address: Address
  readonly sessionId: string | undefined
  readonly kind: LeaseKind
}

/** What a rollout needs from the world; everything that lasts longer than it is behind these. */
export interface RolloutPorts {
  readonly clock: Clock
  readonly client: ControlClient
  readonly agent: Agent
  /**
   * Rejects with tagged data; `transient` where a later attempt may get one. `onLost` is called at most once, if whoever gave the sandbox hears that it
   * has died before it is given back.
   */
  lease(deadlineMs: number, onLost: (why: ErrorData) => void): Promise<Leased>
  /** Why the leased sandbox was lost, where anybody knows. Asked only when it was, and before it is given back; bounded. May reject. */
  whyLost(): Promise<ErrorData | undefined>
  /** Gives the lease back, or withdraws the request that is still waiting. Never throws. */
  release(sessionEnded: boolean): void
  openShell(session: ControlSession, signal: AbortSignal): Promise<Shell>
}

export interface RolloutRequest {
  readonly task: Task
  readonly seed: number
  readonly deadlines: Deadlines
  /** Aborts when nobody wants the result any more. */
  readonly cancel: AbortSignal
}

/** How one attempt ended. Failed attempts have the same shape as finished ones; `rollout` itself never rejects. */
export interface RolloutEnd {
  readonly outcome: Outcome
  readonly reward: number | null
  readonly stopReason: StopReason
  readonly failedPhase: Phase | undefined
  readonly error: ErrorData | undefined
  /** A fresh sandbox may do better. */
  readonly retryable: boolean
  readonly lease: LeaseKind | null
  readonly timings: PhaseTimings
  readonly startedAt: number
  readonly endedAt: number
  readonly trajectory: Trajectory
}

interface Verdict {
  readonly outcome: Outcome
  readonly stopReason: StopReason
  readonly error?: ErrorData
  readonly failedPhase?: Phase
  readonly retryable?: boolean
}

/** One attempt at one task in one sandbox: lease, connect, start, agent, grade, give back. */
export async function rollout(request: RolloutRequest, ports: RolloutPorts): Promise<RolloutEnd> {
  const startedAt = ports.clock.wallTime()
  const begun = ports.clock.now()
  const phases = makePhases(ports.clock, request.deadlines, request.cancel)
  const attempt = new Attempt(request, ports, phases)
  const verdict = await attempt.explain(await attempt.run())
  await attempt.cleanUp()
  phases.close()
  return {
    outcome: verdict.outcome,
    reward: attempt.reward,
    stopReason: verdict.stopReason,
    failedPhase: verdict.failedPhase,
    error: verdict.error,
    retryable: verdict.retryable ?? false,
    lease: attempt.leased?.kind ?? null,
    timings: phases.timings,
    startedAt,
    // A wall clock that was set meanwhile would have it end before it began, or last for days.
    endedAt: startedAt + Math.round(ports.clock.now() - begun),
    trajectory: { prompt: attempt.prompt, turns: attempt.turns, answer: attempt.answer, grade: attempt.grade },
  }
}

class Attempt {
  leased: Leased | undefined
  prompt: unknown = null
  readonly turns: Turn[] = []
  answer: unknown = null
  grade: GradeFrame | null = null
  reward: number | null = null
  /** What was told of the sandbox's end. */
  #told: ErrorData | undefined
  #session: ControlSession | undefined
  #shell: Promise<Shell> | undefined
  readonly #request: RolloutRequest
  readonly #ports: RolloutPorts
  readonly #phases: Phases

  constructor(request: RolloutRequest, ports: RolloutPorts, phases: Phases) {
    this.#request = request
    this.#ports = ports
    this.#phases = phases
  }

  async run(): Promise<Verdict> {
    const { task, deadlines } = this.#request
    try {
      const onLost = (why: ErrorData) => this.#lost(why)
      this.leased = await this.#phases.run('provisioning', () => this.#ports.lease(deadlines.provisioning, onLost))
      const { address, sessionId } = this.leased
      const session = await this.#phases.run('connecting', signal =>
        this.#ports.client.connect(address, {
          clock: this.#ports.clock,
          deadlineMs: deadlines.connecting,
          signal,
          ephemeral: true,
          ...(sessionId === undefined ? {} : { sessionId }),
        }),
      )
      this.#session = session
      const frame = await this.#phases.run('starting', signal => session.startTask(task.id, task.args, signal))
      this.prompt = frame.prompt
      const agentVerdict = await this.#runAgent(session)
      if (agentVerdict.outcome === 'infrastructure-error' || agentVerdict.outcome === 'cancelled') return agentVerdict
      await this.#gradeAnswer(session)
      return agentVerdict
    } catch (thrown) {
      return this.#blame(toErrorData(thrown))
    }
  }

  /** A peer that is being connected to may be waited for in vain, so it is not left to the session to notice. */
  #lost(why: ErrorData): void {
    this.#told = why
    this.#phases.fail(leaseLost(this.#phases.current))
  }

  /** An agent that fails is still graded on what it left behind, unless its sandbox is gone. */
  async #runAgent(session: ControlSession): Promise<Verdict> {
    let working: Promise<unknown> | undefined
    try {
      const { answer, stop } = await this.#phases.run('agent', signal => {
        const run = this.#ports.agent.run({
          prompt: this.prompt,
          seed: this.#request.seed,
          signal,
          shell: () => this.#openShell(session),
          session: {
            bindings: session.bindings,
            openTunnel: (name, cut = signal) => session.openTunnel(name, cut),
          },
          record: turn => {
            // A turn that arrives after the phase was cut belongs to nobody: what is graded is what was there.
            if (!signal.aborted) this.turns.push(turn)
          },
        })
        working = run
        return run
      })
      this.answer = answer
      return { outcome: 'graded', stopReason: STOP[stop] }
    } catch (thrown) {
      const error = toErrorData(thrown)
      return this.#blame((await modelMissing(error, working)) ?? error)
    }
  }

  #openShell(session: ControlSession): Promise<Shell> {
    this.#shell ??= this.#ports.openShell(session, this.#request.cancel)
    return this.#shell
  }

  async #gradeAnswer(session: ControlSession): Promise<void> {
    const grade = await this.#phases.run('grading', signal => session.grade(this.answer, signal))
    this.grade = grade
    if (grade.isError === true) throw gradeIsError(grade.content)
    if (!Number.isFinite(grade.score)) throw badScore(grade.score)
    this.reward = grade.score
  }

  /** Who answers for an error depends on the phase it came in and on what it says of itself. */
  #blame(error: ErrorData): Verdict {
    const failedPhase = this.#phases.current
    if (this.#request.cancel.aborted) return { outcome: 'cancelled', stopReason: 'cancelled', failedPhase, error }
    if (failedPhase === 'provisioning') {
      const isDeadline = error.tag === 'phase-deadline'
      const stopReason = isDeadline ? 'deadline' : 'provision-failed'
      return { outcome: 'infrastructure-error', stopReason, failedPhase, error, retryable: error.transient === true }
    }
    if (failedPhase === 'agent' && isModelLost(error)) {
      const retryable = error.transient === true
      return { outcome: 'infrastructure-error', stopReason: 'model-lost', failedPhase, error, retryable }
    }
    if (failedPhase === 'connecting' || isSandboxLost(error))
      return { outcome: 'infrastructure-error', stopReason: 'sandbox-lost', failedPhase, error, retryable: true }
    const isDeadline = error.tag === 'phase-deadline'
    if (failedPhase === 'agent')
      return { outcome: 'agent-error', stopReason: isDeadline ? 'deadline' : 'agent-threw', failedPhase, error }
    return {
      outcome: 'environment-error',
      stopReason: isDeadline ? 'deadline' : 'environment-threw',
      failedPhase,
      error,
    }
  }

  /** The rollout itself only sees that its sandbox answers no more: whoever runs it may know why. */
  async explain(verdict: Verdict): Promise<Verdict> {
    if (verdict.stopReason !== 'sandbox-lost' || this.leased === undefined || verdict.error === undefined)
      return verdict
    // Whoever does not answer knows nothing.
    const why = this.#told ?? (await this.#ports.whyLost().catch(() => undefined))
    return why === undefined ? verdict : { ...verdict, error: becauseOf(verdict.error, why) }
  }

  /** Reverse order of opening; bounded; what will not go is the pool's to destroy. */
  async cleanUp(): Promise<void> {
    const session = this.#session
    // What is gone says no goodbye.
    if (this.#told !== undefined) session?.abort()
    let ended = false
    try {
      ended = await this.#phases.run('cleanup', async () => {
        if (this.#shell !== undefined) await this.#shell.then(shell => shell.close()).catch(ignoreDeadShell)
        return session === undefined ? false : await session.end()
      })
    } catch {
      // The deadline passed: the session is cut below, and the pool is told that nobody saw its goodbye.
      session?.abort()
    }
    this.#ports.release(ended)
  }
}

/**
 * What an agent that was cut at its deadline says at once of its model, if that is what it had been waiting for: its silence is then not its
 * own, and grading it would be a zero that nobody has earned.
 */
async function modelMissing(error: ErrorData, working: Promise<unknown> | undefined): Promise<ErrorData | undefined> {
  if (error.tag !== 'phase-deadline' || working === undefined) return undefined
  const said = await Promise.race([working.then(() => undefined, toErrorData), nextTurn().then(nextTurn)])
  return said !== undefined && isModelLost(said) ? said : undefined
}

/** Who honours an abort has said so by then; who does not is not waited for. */
function nextTurn(): Promise<undefined> {
  return new Promise(resolve => setImmediate(resolve, undefined))
}

const STOP: Record<AgentStop, StopReason> = {
  done: 'done',
  'max-steps': 'max-steps',
  length: 'length',
  'malformed-tool-call': 'malformed-tool-call',
}

/** A shell that never opened, or whose road is gone, has nothing to close; its error was the agent's to see. */
function ignoreDeadShell(): void {}
