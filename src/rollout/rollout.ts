import type { Agent } from '../agents/agent.ts'
import { readBoth } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import type { Deadlines } from '../job/options.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
import { sharesSandbox, type Task } from '../taskset/task.ts'
import type { ControlSession, GradeFrame } from '../wire/session.ts'
import { badScore, becauseOf, gradeIsError, leaseLost } from './errors.ts'
import { modelMissing } from './model-missing.ts'
import { type Lap, makePhases, type Phases } from './phases.ts'
import { findReturns, type JsonSchema } from './returns.ts'
import type { Outcome, Phase, PhaseTimings, StopReason } from './run.ts'
import { type LeasePorts, Stay, type StayPorts } from './stay.ts'
import type { Trajectory, Turn } from './trajectory.ts'
import { blame, STOP, type Step, type Verdict } from './verdict.ts'

/** What a rollout needs from the world; everything that lasts longer than it is behind these. */
export interface RolloutPorts extends StayPorts, LeasePorts {
  readonly agent: Agent
  /** The same for the sandbox of a verifier that gets one of its own: asked for only once the first is given back. */
  readonly verifier: LeasePorts
  /** Hears of each phase as it begins. */
  readonly onPhase?: (phase: Phase) => void
}

export interface RolloutRequest {
  readonly task: Task
  readonly seed: number
  readonly deadlines: Deadlines
  /** Aborts when nobody wants the result any more. */
  readonly cancel: AbortSignal
  /** What others are told to be part of, as a W3C `traceparent`, in each phase. Absent where nobody draws the rollout. */
  readonly traceparents?: (phase: Phase) => string
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
  /** The visits to phases that `timings` sums up. */
  readonly laps: readonly Lap[]
  readonly startedAt: number
  readonly endedAt: number
  /** Between those two, not rounded. */
  readonly tookMs: number
  readonly trajectory: Trajectory
}

/** One attempt at one task: lease, connect, start, agent, grade, give back; and where the task has a verifier, its grade for the record. */
export async function rollout(request: RolloutRequest, ports: RolloutPorts): Promise<RolloutEnd> {
  const { now: begun, wallTime: startedAt } = readBoth(ports.clock)
  const phases = makePhases(ports.clock, request.deadlines, request.cancel, ports.onPhase)
  const attempt = new Attempt(request, ports, phases)
  const verdict = await attempt.explain(await attempt.run())
  await attempt.cleanUp()
  phases.close()
  const tookMs = ports.clock.now() - begun
  return {
    outcome: verdict.outcome,
    reward: attempt.reward,
    stopReason: verdict.stopReason,
    failedPhase: verdict.failedPhase,
    error: verdict.error,
    retryable: verdict.retryable ?? false,
    lease: attempt.lease,
    timings: phases.timings,
    laps: phases.laps,
    startedAt,
    // A wall clock that was set meanwhile would have it end before it began, or last for days.
    endedAt: startedAt + Math.round(tookMs),
    tookMs,
    trajectory: attempt.trajectory,
  }
}

class Attempt {
  reward: number | null = null
  #prompt: unknown = null
  readonly #turns: Turn[] = []
  #answer: unknown = null
  /** The grade of record. */
  #grade: GradeFrame | null = null
  #actorGrade: GradeFrame | null = null
  #step: Step = 'provisioning'
  #returns: JsonSchema | undefined
  /** Where the task itself is done. */
  readonly #actor: Stay
  /** Where the attempt is now. */
  #stay: Stay
  readonly #request: RolloutRequest
  readonly #ports: RolloutPorts
  readonly #phases: Phases

  constructor(request: RolloutRequest, ports: RolloutPorts, phases: Phases) {
    this.#request = request
    this.#ports = ports
    this.#phases = phases
    this.#actor = this.#stayAt(ports)
    this.#stay = this.#actor
  }

  get lease(): LeaseKind | null {
    return this.#actor.leased?.kind ?? null
  }

  get trajectory(): Trajectory {
    const { verifier } = this.#request.task
    return {
      prompt: this.#prompt,
      turns: this.#turns,
      answer: this.#answer,
      grade: this.#grade,
      ...(verifier === undefined ? {} : { actorGrade: this.#actorGrade }),
    }
  }

  async run(): Promise<Verdict> {
    const { task, deadlines } = this.#request
    try {
      await this.#phases.run('provisioning', () => this.#actor.take(deadlines.provisioning))
      this.#step = 'connecting'
      const session = await this.#phases.run('connecting', signal =>
        this.#actor.connect(deadlines.connecting, signal, this.#traceparent()),
      )
      this.#step = 'starting'
      const frame = await this.#phases.run('starting', async signal => {
        this.#carry(session)
        const started = await session.startTask(task.id, task.args, signal)
        this.#returns = await findReturns(this.#ports.client, session, task.id, signal)
        return started
      })
      this.#prompt = frame.prompt
      this.#step = 'agent'
      const worked = await this.#runAgent(session)
      if (isOver(worked)) return worked
      this.#step = 'grading'
      if (task.verifier !== undefined) return await this.#gradeAndVerify(session, task.verifier, worked)
      this.#record(await this.#phases.run('grading', signal => this.#gradeTask(session, signal)))
      return worked
    } catch (thrown) {
      return this.#blame(toErrorData(thrown))
    }
  }

  #stayAt(lease: LeasePorts): Stay {
    // A peer that is being connected to may be waited for in vain, so it is not left to the session to notice.
    return new Stay(lease, this.#ports, () => this.#phases.fail(leaseLost(this.#phases.current)))
  }

  /** An agent that fails is still graded on what it left behind, unless its sandbox is gone. */
  async #runAgent(session: ControlSession): Promise<Verdict> {
    let working: Promise<unknown> | undefined
    const returns = this.#returns
    try {
      const { answer, stop } = await this.#phases.run('agent', signal => {
        const traceparent = this.#traceparent()
        const run = this.#ports.agent.run({
          prompt: this.#prompt,
          ...(returns === undefined ? {} : { returns }),
          seed: this.#request.seed,
          signal,
          ...(traceparent === undefined ? {} : { traceparent }),
          shell: () => this.#actor.openShell(session, this.#request.cancel, traceparent),
          session: {
            bindings: session.bindings,
            openTunnel: (name, cut = signal) => session.openTunnel(name, cut),
          },
          record: turn => {
            // A turn that arrives after the phase was cut belongs to nobody: what is graded is what was there.
            if (!signal.aborted) this.#turns.push(turn)
          },
        })
        working = run
        return run
      })
      this.#answer = answer
      return { outcome: 'graded', stopReason: STOP[stop] }
    } catch (thrown) {
      const error = toErrorData(thrown)
      return this.#blame((await modelMissing(error, working)) ?? error)
    }
  }

  /** The task's own grade is handed to the verifier, whose grade is the one of record. A task that cannot be graded is told to it as such. */
  async #gradeAndVerify(session: ControlSession, verifier: Task, worked: Verdict): Promise<Verdict> {
    let verdict = worked
    let given: Readonly<Record<string, unknown>>
    try {
      this.#actorGrade = await this.#phases.run('grading', signal => this.#gradeTask(session, signal))
      given = { answer: this.#answer, ...this.#actorGrade }
    } catch (thrown) {
      const error = toErrorData(thrown)
      const failed = this.#blame(error)
      if (isOver(failed)) return failed
      if (worked.outcome === 'graded') verdict = failed
      given = { score: 0, answer: this.#answer, content: error.message, isError: true }
    }
    const grade = sharesSandbox(this.#request.task, verifier)
      ? await this.#phases.run('verifying', signal => this.#gradeBy(verifier, session, given, signal))
      : await this.#verifyElsewhere(verifier, given)
    this.#record(grade)
    return verdict
  }

  /**
   * On a sandbox of the verifier's own. The first one is given back before it is asked for: runs that each held one and waited for another could
   * wait for each other for ever.
   */
  async #verifyElsewhere(verifier: Task, given: unknown): Promise<GradeFrame> {
    const { deadlines } = this.#request
    await this.#leave(this.#actor)
    const stay = this.#stayAt(this.#ports.verifier)
    this.#stay = stay
    return this.#phases.run('verifying', async signal => {
      this.#step = 'provisioning'
      await stay.take(Math.min(deadlines.provisioning, deadlines.verifying))
      this.#step = 'connecting'
      const session = await stay.connect(deadlines.connecting, signal, this.#traceparent())
      return this.#gradeBy(verifier, session, given, signal)
    })
  }

  async #gradeBy(verifier: Task, session: ControlSession, given: unknown, signal: AbortSignal): Promise<GradeFrame> {
    this.#step = 'starting'
    this.#carry(session)
    await session.startTask(verifier.id, verifier.args, signal)
    this.#step = 'grading'
    return session.grade(given, signal)
  }

  #gradeTask(session: ControlSession, signal: AbortSignal): Promise<GradeFrame> {
    this.#carry(session)
    return session.grade(this.#answer, signal)
  }

  /** Of the phase that runs. */
  #traceparent(): string | undefined {
    return this.#request.traceparents?.(this.#phases.current)
  }

  #carry(session: ControlSession): void {
    const traceparent = this.#traceparent()
    if (traceparent !== undefined) session.carry(traceparent)
  }

  #record(grade: GradeFrame): void {
    this.#grade = grade
    if (grade.isError === true) throw gradeIsError(grade.content)
    if (!Number.isFinite(grade.score)) throw badScore(grade.score)
    this.reward = grade.score
  }

  #blame(error: ErrorData): Verdict {
    return blame(error, { phase: this.#phases.current, step: this.#step }, this.#request.cancel.aborted)
  }

  async explain(verdict: Verdict): Promise<Verdict> {
    if (verdict.stopReason !== 'sandbox-lost' || verdict.error === undefined) return verdict
    const why = await this.#stay.whyLost()
    if (why === undefined) return verdict
    const retryable = verdict.retryable === true && why.transient !== false
    return { ...verdict, error: becauseOf(verdict.error, why), retryable }
  }

  async cleanUp(): Promise<void> {
    await this.#leave(this.#stay)
    await this.#leave(this.#actor)
  }

  #leave(stay: Stay): Promise<void> {
    return stay.leave(goodbye =>
      this.#phases.run('cleanup', () => {
        if (stay.session !== undefined) this.#carry(stay.session)
        return goodbye()
      }),
    )
  }
}

/** Nothing more can be done with the sandbox, or nobody wants it done, or nobody was asked. */
function isOver({ outcome, failedPhase }: Verdict): boolean {
  if (outcome === 'environment-error') return failedPhase === 'agent'
  return outcome === 'infrastructure-error' || outcome === 'cancelled'
}
