import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { deriveSeed, makeRandom, shuffle } from '../../src/random.ts'
import { type Scene, until, withScene } from '../end-to-end/scene.ts'
import { tellFigures } from '../support/figures.ts'
import { needTime } from '../support/need-time.ts'
import { suite } from '../support/suite.ts'
import { type Life, live, type Point } from './life.ts'
import { MARKS, type Phase } from './marks.ts'
import { isOver, readOutcome, type TrainingOutcome } from './outcome.ts'

/** All phases together. CI takes few of them; `TROUPE_KILL_POINTS=200` many, of the same sequence. */
const POINTS = Number(process.env.TROUPE_KILL_POINTS ?? 12)
const SEED = Number(process.env.TROUPE_KILL_SEED ?? 1)
const PHASES = Object.keys(MARKS).length
/** Long enough to come from one mark to those that follow, to what a thread or a server does between two of them. */
const MAX_DELAY_MS = 25
const KILLS_A_JOB = { least: 2, most: 3 } as const
/** A life takes some seconds, on a machine that does much else besides many. */
const DEADLINE_MS = 160_000
const DEADLINE_PER_POINT_MS = 60_000

/**
 * Declares the test of one phase: trainings that are killed at marks of the phase or shortly after them, some of them again when they go
 * on, and that must end like one that nobody killed.
 */
export function testKillsWhile(phase: Phase): void {
  const test = suite(`a training that is killed while ${phase}`)
  const points = Math.ceil(POINTS / PHASES)
  const deadlineMs = DEADLINE_MS + points * DEADLINE_PER_POINT_MS
  needTime(deadlineMs + 20_000)
  test(
    'goes on by the same command to the same end: no graded run again, no group trained on twice, none skipped',
    async () => {
      const random = makeRandom(deriveSeed(SEED, phase))
      const whole = await runWhole(phase)
      let killed = 0
      for (let jobs = 0; killed < points; jobs += 1) {
        // A point near the end may come too late to kill anything.
        assert.ok(jobs < 2 * points + 4, `${killed} of ${points} points killed something`)
        const { least, most } = KILLS_A_JOB
        const kills = Math.min(least + Math.floor(random() * (1 + most - least)), points - killed)
        const [first, ...others] = drawPoints(phase, whole.marks, kills, random)
        const always = { mark: MARKS[phase][0], occurrence: 1, delayMs: 0 }
        killed += await killAndGoOn([jobs === 0 ? always : (first ?? always), ...others], whole)
      }
      tellFigures(`${killed} kill points while ${phase}, ${killed} resumed, seed ${SEED}`)
    },
    { deadlineMs },
  )
  test.run()
}

interface Whole {
  readonly marks: ReadonlyMap<string, number>
  readonly outcome: TrainingOutcome
}

/** The training that nobody kills, and that is what all others must come to. */
async function runWhole(phase: Phase): Promise<Whole> {
  const found: Whole[] = []
  await withScene(async scene => {
    const { marks, end } = await live(scene)
    assert.is(end, 'ended')
    assert.equal(scene.leftovers(), [])
    for (const mark of MARKS[phase]) assert.ok(marks.has(mark), `"${mark}" is never told: it was given another name`)
    const outcome = await readOutcome(scene.directory)
    const { accepted, isWhole, lost, policy, runs, twice } = outcome
    assert.equal([isWhole, runs.unplanned, runs.missing, twice, lost, policy.unneeded], [true, [], [], [], [], []])
    assert.ok(accepted.length >= 4, 'there is enough training to be interrupted')
    found.push({ marks, outcome })
  })
  const [whole] = found
  assert.ok(whole)
  return whole
}

/** The first at any place of the phase; those after it early, since a life that goes on has less before it. */
function drawPoints(
  phase: Phase,
  marks: ReadonlyMap<string, number>,
  count: number,
  random: () => number,
): readonly Point[] {
  const names = shuffle(MARKS[phase], random)
  return Array.from({ length: count }, (_, place) => {
    const mark = names[place % names.length] ?? names[0] ?? ''
    const often = marks.get(mark) ?? 1
    const most = place === 0 ? often : Math.ceil(often / 2)
    const delayMs = random() < 0.5 ? 0 : random() * MAX_DELAY_MS
    return { mark, occurrence: 1 + Math.floor(random() * most), delayMs }
  })
}

/** How many of the points killed a training that had to go on. After them it is left alone until its end, which must be the whole one's. */
async function killAndGoOn(points: readonly Point[], { outcome }: Whole): Promise<number> {
  let killed = 0
  try {
    await withScene(async scene => {
      for (const point of [...points, undefined]) {
        const { end } = await liveOnce(scene, point)
        if (end !== 'killed') {
          assert.is(end, killed === 0 ? 'ended' : 'went on to its end')
          assert.equal(scene.leftovers(), [], 'nothing is left: processes, directories, sockets')
          assert.equal(await readOutcome(scene.directory), outcome)
          return
        }
        // Nothing is left to go on with; only its files lie about until somebody starts the next.
        if (await isOver(scene.directory)) return
        killed += 1
      }
      assert.unreachable('a life that nobody ended has ended')
    })
  } catch (error) {
    const what = `seed ${SEED}, killed at ${points.map(describePoint).join(', then ')}`
    const details = error instanceof Error && 'details' in error ? String(error.details) : ''
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}\n${details}`, { cause: error })
  }
  return killed
}

const describePoint = ({ mark, occurrence, delayMs }: Point) =>
  `"${mark}" ${occurrence}${delayMs === 0 ? '' : ` + ${delayMs.toFixed(1)} ms`}`

/** One life, of which must hold: it rolls out nothing that was durable when it began, and its processes end with it. */
async function liveOnce(scene: Scene, point: Point | undefined): Promise<Life> {
  const graded = new Set((await scene.durable()).map(run => String(run.seed)))
  const before = readStarts(scene).length
  const life = await live(scene, point)
  const again = readStarts(scene)
    .slice(before)
    .filter(seed => graded.has(seed))
  assert.equal(again, [], 'runs that were graded are not run again')
  await until(
    () => scene.processes().length === 0,
    () => scene.leftovers().join('\n'),
  )
  return life
}

function readStarts(scene: Scene): string[] {
  const file = join(scene.directory, 'starts')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
