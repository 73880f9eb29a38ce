import { untilAborted } from '../../../src/ladder/until-aborted.ts'
import { startHud } from '../hud/process.ts'
import type { HudPython } from '../hud/venv.ts'
import type { Progress } from '../progress.ts'
import { openOurSide, type RolloutFigures, type Side, toHudSide } from './sides.ts'

const GRACE_MS = 20_000
/**
 * Rounds before the first that counts, at the width of what follows: our engine starts its threads anew for another width, and what
 * is compiled while it runs is compiled by then. Python compiles nothing; once round is enough for it.
 */
const WARM_UP = { rounds: 4, rollouts: 512 }

/** The same rollouts by every side. */
export interface RolloutMatch {
  readonly peer: string
  readonly rollouts: number
  readonly width: number
  /** By name of the side, a figure a round; the peer's too. */
  readonly figures: ReadonlyMap<string, readonly RolloutFigures[]>
}

export const OURS_EACH = 'ours, TCP each'
export const OURS = 'ours'

/** HUD's two local runtimes beside ours, the sides taking turns in each repetition. When interrupted, the matches done until then. */
export async function runRollouts(
  python: HudPython,
  { quick, repetitions }: { readonly quick: boolean; readonly repetitions: number },
  { signal, say }: Progress,
): Promise<readonly RolloutMatch[]> {
  const hud = await startHud(python.program)
  const local = toHudSide("HUD's LocalRuntime", hud, 'local')
  const subprocess = toHudSide("HUD's SubprocessRuntime", hud, 'subprocess')
  const ours = [openOurSide(OURS_EACH, 'each'), openOurSide(OURS, 'shared')]
  const matches = quick
    ? [
        { peer: local, rollouts: 512, width: 8 },
        { peer: subprocess, rollouts: 8, width: 8 },
      ]
    : [
        { peer: local, rollouts: 2_048, width: 16 },
        { peer: local, rollouts: 2_048, width: 256 },
        { peer: subprocess, rollouts: 16, width: 16 },
      ]
  const found: RolloutMatch[] = []
  let warmWidth = 0
  const work = async () => {
    for (const { peer, rollouts, width } of matches) {
      const figures = new Map<string, RolloutFigures[]>()
      if (width !== warmWidth) await warmUp([local, ...ours], width)
      warmWidth = width
      for (let repetition = 1; repetition <= repetitions; repetition += 1)
        for (const side of [peer, ...ours]) {
          const round = await side.round(rollouts, width)
          figures.set(side.name, [...(figures.get(side.name) ?? []), round])
          say(toLine(side, rollouts, width, round))
        }
      found.push({ peer: peer.name, rollouts, width, figures })
    }
  }
  try {
    await untilAborted(work(), signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await Promise.all([hud.end(GRACE_MS), ...ours.map(side => side.close())])
  }
  return found
}

async function warmUp([peer, ...ours]: readonly Side[], width: number): Promise<void> {
  await peer?.round(WARM_UP.rollouts, width)
  for (const side of ours)
    for (let round = 0; round < WARM_UP.rounds; round += 1) await side.round(WARM_UP.rollouts, width)
}

const toLine = (
  { name }: Side,
  rollouts: number,
  width: number,
  { perSecond, engineCpuMs, othersCpuMs }: RolloutFigures,
) =>
  `${name}: ${rollouts} no-op rollouts, ${width} wide: ${perSecond.toFixed(0)}/s, CPU ${engineCpuMs.toFixed(2)} + ${othersCpuMs.toFixed(2)} ms each`
