import type { CancelTimer, Clock } from '../clock.ts'
import type { Deadlines } from '../job/options.ts'
import { phaseDeadline, rolloutCancelled, rolloutDeadline } from './errors.ts'
import type { Phase } from './run.ts'

/** One visit to a phase: when it began, by the rollout's own clock, and how long it was. */
export interface Lap {
  readonly phase: Phase
  /** Milliseconds since the rollout began. */
  readonly atMs: number
  readonly tookMs: number
}

/** Runs the phases of one rollout one after the other: times each, bounds each, and lets a cancel reach the one that runs. */
export interface Phases {
  readonly current: Phase
  readonly timings: Partial<Record<Phase, number>>
  /** Every visit to a phase so far, in their order. */
  readonly laps: readonly Lap[]
  /**
   * Rejects with `phase-deadline` or `rollout-cancelled` without waiting for `work`, whose signal is aborted first; what
   * `work` does afterwards is ignored. The cleanup phase runs in spite of a cancel and of a spent rollout deadline.
   */
  run<Value>(phase: Phase, work: (signal: AbortSignal) => Promise<Value>): Promise<Value>
  /** There is no going on: the phase that runs is cut, and none but the cleanup begins. A lease that is on its way still arrives. */
  fail(error: Error): void
  /** Listens for a cancel no longer. */
  close(): void
}

/** `onPhase` hears of each phase as it begins. */
export function makePhases(
  clock: Clock,
  deadlines: Deadlines,
  cancel: AbortSignal,
  onPhase?: (phase: Phase) => void,
): Phases {
  const begun = clock.now()
  const timings: Partial<Record<Phase, number>> = {}
  const laps: Lap[] = []
  let current: Phase = 'provisioning'
  let failure: Error | undefined
  // One for all phases, until one of them is cut: an abort controller costs more than a phase that goes well.
  let controller = new AbortController()

  async function run<Value>(phase: Phase, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    current = phase
    onPhase?.(phase)
    const startedAt = clock.now()
    const isCleanup = phase === 'cleanup'
    const left = deadlines.rollout - (startedAt - begun)
    const limitMs = isCleanup ? deadlines.cleanup : Math.max(0, Math.min(deadlines[phase], left))
    if (!isCleanup && cancel.aborted) throw rolloutCancelled()
    if (!isCleanup && failure !== undefined) throw failure
    if (controller.signal.aborted) controller = new AbortController()
    const own = controller
    try {
      return await new Promise<Value>((resolve, reject) => {
        const stop = (error: Error) => {
          reject(error)
          own.abort(error)
        }
        const isWhole = !isCleanup && left < deadlines[phase]
        const late = () => (isWhole ? rolloutDeadline(phase, deadlines.rollout) : phaseDeadline(phase, limitMs))
        cutTimer = clock.after(limitMs, () => stop(late()))
        cut = isCleanup ? ignore : stop
        work(own.signal).then(resolve, reject)
      })
    } finally {
      cutTimer()
      cut = ignore
      // A phase that is gone through twice, as the cleanup of a task and of its verifier, has the time of both.
      const tookMs = clock.now() - startedAt
      timings[phase] = (timings[phase] ?? 0) + tookMs
      laps.push({ phase, atMs: startedAt - begun, tookMs })
    }
  }

  let cutTimer: CancelTimer = ignore
  let cut: (error: Error) => void = ignore
  // Listens for the rollout's whole life; `close` ends it.
  const listen = () => cut(rolloutCancelled())
  cancel.addEventListener('abort', listen)

  return {
    get current() {
      return current
    },
    timings,
    laps,
    run,
    fail(error) {
      failure ??= error
      if (current !== 'provisioning') cut(error)
    },
    close: () => cancel.removeEventListener('abort', listen),
  }
}

function ignore(): void {}
