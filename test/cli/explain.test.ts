import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { readReceipt } from '../../src/training/receipt/receipt-file.ts'
import { BEGAN, jobId, makeRun } from '../explain/scene.ts'
import { type CliEnd, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli explain')
const SLOW = { deadlineMs: 120_000 }
const arith = (name: string) => fileURLToPath(new URL(`../../../environments/arith/${name}`, import.meta.url))
const HERE = ['--unsafe-no-isolation', '--threads', '0', '--seed', '1']

let cwd = ''
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-explain-'))
})
test.after(() => rm(cwd, { recursive: true, force: true }))

const run = (...argv: string[]): Promise<CliEnd> => troupe(argv, { cwd })

/** The document of a step, whose parts must make up its wall time. */
async function explain(...more: string[]) {
  const { exitCode, stdout, stderr } = await run('explain', ...more, '--json')
  assert.is(exitCode, 0, stderr)
  const found = JSON.parse(stdout)
  const { step } = found
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const near = (one: number) => assert.ok(Math.abs(one - step.wallMs) < 0.1, `${one} of ${step.wallMs}`)
  near(sum(step.parts.map((part: { pathMs: number }) => part.pathMs)))
  near(sum(Object.values(step.overlap)))
  near(sum(step.path.map(({ fromMs, toMs }: { fromMs: number; toMs: number }) => toMs - fromMs)))
  return found
}

test(
  'an evaluation is explained in words, as JSON, and as a picture',
  async () => {
    const done = await run('eval', arith('tasks.ts'), arith('adder.ts'), '--task-ids', '0-3', '--group', '2', ...HERE)
    assert.is(done.exitCode, 0, done.stderr)
    const { stdout, stderr, exitCode } = await run('explain', '--out', 'step.svg')
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /step 1: .*8 rollouts in 4 groups/)
    for (const part of ['Where the time went', 'Critical path', 'What would shorten it', 'What overlapped'])
      assert.match(stdout, part)
    assert.not.match(stdout, 'not over')
    assert.match(stderr, 'drawn: step.svg')
    assert.match(await readFile(join(cwd, 'step.svg'), 'utf8'), /^<svg role="img"[\s\S]*<\/svg>\n$/)
    const refused = await run('explain', '--out', 'step.svg/inside.svg')
    assert.is(refused.exitCode, 2)
    assert.match(refused.stderr, 'step.svg/inside.svg could not be written')
    const { isOver, step } = await explain()
    assert.equal([isOver, step.rollouts, step.kind], [true, 8, 'rollouts'])
    assert.is(step.path.at(-1).runId !== undefined, true, 'a rollout was last')
  },
  SLOW,
)

test(
  'each step of a training is explained with its calls, and each evaluation under its name',
  async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((slug, index) => ({
      env: 'arith',
      id: 'add',
      slug,
      args: { a: 17 * index + 3, b: 5 * index + 8 },
      columns: { split: slug === 'd' ? 'held-out' : 'train' },
    }))
    await writeFile(join(cwd, 'sums.json'), JSON.stringify(tasks))
    const argv = ['--env', arith('env.ts'), '--base', arith('policy.base'), '--steps', '2', '--group', '8']
    const done = await run('train', 'sums.json', ...argv, '--eval-group', '8', '--journal', 'train', ...HERE)
    assert.is(done.exitCode, 0, done.stderr)
    const { steps } = await readReceipt(join(cwd, 'train_run.json'))
    const found = await explain('--journal', 'train', '--step', '2')
    assert.equal(
      found.steps.map(({ name }: { name: string }) => name),
      ['held-out@0', '1', '2', 'held-out@2'],
    )
    assert.is(found.isOver, true)
    assert.is(found.step.trainerWaits.length, steps[1]?.chunks)
    assert.ok((steps[1]?.chunks ?? 0) > 0, 'there was something to train on')
    const parts = new Map(
      found.step.parts.map((part: { part: string; rolloutsMs: number; pathMs: number }) => [part.part, part]),
    )
    assert.ok(Number(Object(parts.get('model')).rolloutsMs) > 0, 'the turns of its trajectories are the model')
    for (const part of ['training', 'optimiser']) assert.ok(Number(Object(parts.get(part)).pathMs) > 0, part)
    const held = await explain('--journal', 'train', '--step', 'held-out@2')
    assert.equal([held.step.kind, held.step.rollouts, held.step.isOver], ['evaluation', 8, true])
    const drawn = await run('explain', '--journal', 'train', '--out', 'train.svg')
    assert.is(drawn.exitCode, 0, drawn.stderr)
    assert.match(drawn.stdout, /worked .*, and stood still/)
    assert.match(await readFile(join(cwd, 'train.svg'), 'utf8'), '>trainer</text>')
    const unknown = await run('explain', '--journal', 'train', '--step', '3')
    assert.is(unknown.exitCode, 2)
    assert.match(unknown.stderr, 'has no step "3". Say one of: held-out@0, 1, 2, held-out@2.')
  },
  SLOW,
)

test('a job that another process is still running is explained as far as it has come', async () => {
  const journal = await openLmdbJournal({ directory: join(cwd, 'running'), clock: systemClock, role: 'owner' })
  try {
    await journal.putJob({ jobId, name: 'arith', startedAt: BEGAN, seed: 1, settings: { plannedGroups: 2 } })
    const { header } = makeRun(0, 0, { from: 0, timings: { agent: 500 } })
    const trajectory = packTrajectory({ prompt: '', turns: [], answer: '', grade: null })
    const early = await run('explain', '--journal', 'running')
    assert.is(early.exitCode, 2)
    assert.match(early.stderr, 'no run of job-1 has ended')
    await journal.putRun(header, trajectory)
    const { stdout, exitCode, stderr } = await run('explain', 'job-1', '--journal', 'running')
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, 'not over: interrupted, or still running')
    assert.match(stdout, 'step 1: 500 ms so far')
  } finally {
    await journal.close()
  }
})

test.run()
