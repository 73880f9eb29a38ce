import { toErrorData } from '../../src/errors.ts'
import { makeOpenCell, type OpenCell } from './cell.ts'
import type { Level, Mode } from './level.ts'
import type { LadderOptions } from './options.ts'

export interface LadderRun {
  readonly levels: readonly Level[]
  /** Why there are not as many as were asked for; empty when there are. */
  readonly problems: readonly string[]
}

/**
 * All levels, narrow to wide. At each width every mode has an emulator of its own with the same seed, and the modes take turns, so
 * that a busy moment of the machine falls on all alike and the provider's pools refill while others are measured.
 */
export async function runLadder(
  { widths, repetitions, modes, transport, seed }: LadderOptions,
  { signal, say }: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): Promise<LadderRun> {
  const levels: Level[] = []
  const problems: string[] = []
  for (const width of widths) {
    if (signal.aborted) break
    const started: OpenCell[] = []
    const cells: OpenCell[] = []
    const attempt = async (what: string, work: () => Promise<void>) => {
      try {
        await untilAborted(work(), signal)
      } catch (error) {
        if (!signal.aborted) problems.push(`${what}: ${toErrorData(error).message}`)
      }
    }
    try {
      await Promise.all(
        modes.map(mode =>
          attempt(`${mode} at ${width}`, async () => {
            const cell = makeOpenCell({ mode, width, transport }, seed)
            started.push(cell)
            await cell.open()
            cells.push(cell)
          }),
        ),
      )
      cells.sort((one, other) => turnOf(one.cell.mode, modes) - turnOf(other.cell.mode, modes))
      for (let repetition = 1; repetition <= repetitions; repetition += 1)
        for (const cell of cells)
          await attempt(`${cell.cell.mode} at ${width}, repetition ${repetition}`, async () => {
            const level = await cell.measure(repetition, repetition < repetitions)
            levels.push(level)
            say(toLine(level))
          })
    } finally {
      await Promise.all(
        started.map(async cell => {
          const { left } = await cell.end()
          if (left > 0) problems.push(`${cell.cell.mode} at ${width}: ${left} sandboxes were left after the end`)
        }),
      )
    }
  }
  if (signal.aborted) problems.push('interrupted: only the levels that were done are shown')
  return { levels, problems }
}

/** The provider's pool comes last in each round, as it has the longest to fill. */
const turnOf = (mode: Mode, modes: readonly Mode[]): number =>
  mode === 'provider-pool' ? modes.length : modes.indexOf(mode)

function toLine({ cell, repetition, samples, failures, wallMs, fillMs }: Level): string {
  const fill = fillMs === 0 ? '' : `, made ready in ${(fillMs / 1_000).toFixed(1)} s`
  return `${cell.mode} at ${cell.width}, repetition ${repetition}: ${samples.length} ok, ${failures.length} failed, ${(wallMs / 1_000).toFixed(1)} s${fill}`
}

/** Rejects with the reason of `signal` as soon as it aborts; `work` goes on, and whoever began it ends it. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: settled.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    settled.abort()
  }
}
