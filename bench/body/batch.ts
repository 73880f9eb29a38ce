import { makeRandom } from '../../src/random.ts'
import { packTrajectory, toRun } from '../../src/rollout/pack.ts'
import type { Run } from '../../src/rollout/run.ts'
import { makeBenchHeader } from '../trajectories.ts'

const RUNS = 128
export const GROUP_SIZE = 8
const TURNS = 10
/** A prompt holds the turns before it. */
const FIRST_PROMPT = 1_500
const MORE_A_TURN = 540
const OUTPUT = 170
const VOCABULARY = 150_000

/** 128 runs of ten turns whose prompts grow, packed as the engine hands them on: about 37 MB as `JSON.stringify` writes them. */
export function makeBatch(): Run[] {
  const random = makeRandom(1)
  const ids = (length: number) => Uint32Array.from({ length }, () => random() * VOCABULARY)
  return Array.from({ length: RUNS }, (_, index) => {
    const turns = Array.from({ length: TURNS }, (_, turn) => ({
      role: 'assistant' as const,
      text: 'Look at what fails, then repair it.',
      atMs: turn,
      tookMs: 1,
      tokens: {
        prompt: ids(FIRST_PROMPT + turn * MORE_A_TURN),
        output: ids(OUTPUT),
        // Most tokens are nearly certain, a few are not.
        logprobs: Float32Array.from({ length: OUTPUT }, () => -(random() ** 8 * 12)),
      },
    }))
    const packed = packTrajectory({ prompt: 'Repair calc.py', turns, answer: 'done', grade: { score: index % 2 } })
    return toRun(makeBenchHeader(Math.floor(index / GROUP_SIZE), index % GROUP_SIZE, packed.byteLength), packed)
  })
}
