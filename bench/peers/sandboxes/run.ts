import { toErrorData } from '../../../src/errors.ts'
import { makeOpenCell } from '../../../src/ladder/cell.ts'
import { cellClosed } from '../../../src/ladder/errors.ts'
import { toPercentiles } from '../../../src/ladder/percentiles.ts'
import type { LadderPorts } from '../../../src/ladder/ports.ts'
import { makeTurn, type Turn } from '../../../src/ladder/turn.ts'
import { untilAborted } from '../../../src/ladder/until-aborted.ts'
import { toLadderPorts } from '../../ladder/measuring.ts'
import type { HudPython } from '../hud/venv.ts'
import type { PeersOptions } from '../options.ts'
import type { Progress } from '../progress.ts'
import { type SandboxFigures, type SandboxLevel, SIDES, type SideName, toFigures } from './figures.ts'
import { makeHudCell } from './hud-cell.ts'

const TOLD_FILL_MS = 50
/** From here on a turn takes minutes. Our side with the provider's pool, which takes long to fill, is compared below that only. */
const WIDE = 128

/** A side at one width, whatever client it has. */
interface OpenSide {
  open(): Promise<void>
  measure(repetition: number, again: boolean): Promise<SandboxFigures>
  end(): Promise<void>
}

export interface SandboxRun {
  readonly levels: readonly SandboxLevel[]
  /** Why there are not as many as were asked for. */
  readonly problems: readonly string[]
}

/**
 * HUD's `DaytonaRuntime` and our runtime with its pool against emulators of the same seed, one for each side, all at speed 1. At each
 * width the sides take turns; pools of the provider fill while others are measured. A side that fails is left out and told of.
 */
export async function runSandboxes(
  python: HudPython,
  { widths, repetitions, wideRepetitions, seed, quick }: PeersOptions,
  { signal, say }: Progress,
): Promise<SandboxRun> {
  const ports = await toLadderPorts({ seed, transport: 'auto' }, { signal, say })
  const levels: SandboxLevel[] = []
  const problems: string[] = []
  for (const width of widths) {
    if (signal.aborted) break
    const wide = width >= WIDE
    const turns = wide ? wideRepetitions : repetitions
    const names = SIDES.filter(
      side => !(side === 'provider-pool' && (quick || wide)) && !(side === 'hud cold' && quick),
    )
    const sides = new Map<SideName, OpenSide>()
    const attempt = async (side: SideName, work: () => Promise<void>) => {
      try {
        await untilAborted(work(), signal)
      } catch (error) {
        if (!signal.aborted) problems.push(`${side} at ${width}: ${toErrorData(error).message}`)
      }
    }
    try {
      await Promise.all(
        names.map(name =>
          attempt(name, async () => {
            const side = openSide(python, name, width, seed, ports)
            sides.set(name, side)
            await side.open()
          }),
        ),
      )
      for (let repetition = 1; repetition <= turns; repetition += 1)
        for (const name of names)
          await attempt(name, async () => {
            const figures = await sides.get(name)?.measure(repetition, repetition < turns)
            if (figures === undefined) return
            levels.push({ ...figures, side: name, width })
            say(toLine(name, width, figures))
          })
    } finally {
      await Promise.all([...sides.values()].map(side => side.end()))
    }
  }
  return { levels, problems }
}

function openSide(python: HudPython, name: SideName, width: number, seed: number, ports: LadderPorts): OpenSide {
  if (name === 'hud cold' || name === 'hud cold lean' || name === 'hud pool lean')
    return makeHudCell({
      python: python.program,
      width,
      seed,
      pool: name === 'hud pool lean',
      lean: name !== 'hud cold',
    })
  const cell = makeOpenCell({ strategy: name, work: 'infra', width }, ports)
  let turn: Turn | undefined
  return {
    async open() {
      await cell.open()
      turn = makeTurn(cell)
    },
    async measure(repetition, again) {
      if (turn === undefined) throw cellClosed()
      return toFigures(await turn.take(repetition, again))
    },
    async end() {
      await cell.end()
    },
  }
}

function toLine(side: SideName, width: number, { usableMs, failures, fillMs, cpuMs }: SandboxFigures): string {
  const { p50, p95 } = toPercentiles(usableMs)
  const fill = fillMs < TOLD_FILL_MS ? '' : `, waited ${(fillMs / 1_000).toFixed(1)} s for the pool`
  return `${side} at ${width}: ${usableMs.length} usable, ${failures.length} failed, p50 ${(p50 / 1_000).toFixed(2)} s, p95 ${(p95 / 1_000).toFixed(2)} s, client CPU ${cpuMs.toFixed(0)} ms each${fill}`
}
