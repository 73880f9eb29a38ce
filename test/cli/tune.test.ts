import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('troupe tune')

/** Small enough to be simulated in no time. */
const SMALL = ['--rollouts', '16', '--group', '4', '--steps', '2', '--repetitions', '1', '--strategies', 'cold,prewarm']

test('it prints what to do, what comes of it, why, and the command to use', async () => {
  const { exitCode, stdout, stderr } = await troupe(['tune', ...SMALL, '--price', '0.00005'])
  assert.is(exitCode, 0, stderr)
  assert.match(stdout, /^Hold 16 sandboxes ready, created, and begin to make them \d\.00 s before each step\.\n/)
  assert.match(stdout, /100\.0 % of the leases find a sandbox ready/)
  assert.match(stdout, /Why: All 16 rollouts ask at once/)
  assert.match(stdout, /By theory .*hit rate 100\.0 %/)
  assert.match(stdout, /│ creates \+25 %/)
  assert.match(
    stdout,
    /\n {2}troupe train --runtime daytona --pool 16 --pool-lead \d --group 4 --max-concurrent 16 --steps 2\n/,
  )
  assert.match(stderr, /^\d+ simulations of [\d,]+ sandboxes in [\d.]+ s\n$/)
})

test('as JSON the last line has everything, the curve’s data too, and --out writes it beside the curve', () =>
  withFiles({}, async directory => {
    const { exitCode, stdout, stderr } = await troupe(['tune', ...SMALL, '--knee', '--json', '--out', 'results'], {
      cwd: directory,
    })
    assert.is(exitCode, 0, stderr)
    const found = resultOf(stdout)
    assert.ok(found.evaluated.length > 5)
    assert.equal(Object.keys(found.chosen.candidate), ['strategy', 'size', 'parents', 'leadMs'])
    assert.type(found.advice.use, 'string')
    assert.equal(JSON.parse(readFileSync(join(directory, 'results', 'tune.json'), 'utf8')), found)
    assert.match(readFileSync(join(directory, 'results', 'curve.svg'), 'utf8'), /^<svg role="img"/)
  }))

test('a receipt is what the model is fitted to', () =>
  withFiles({ 'slow.csv': 'n,mode,ready_p50_s,ready_p95_s\n16,cold,20,21\n' }, async directory => {
    const { exitCode, stdout, stderr } = await troupe(['tune', ...SMALL, '--receipt', 'slow.csv'], { cwd: directory })
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /begin to make them 2\d\.00 s before/)
    assert.match(stdout, /a model fitted to slow\.csv/)
  }))

test('live, it measures the sandboxes at hand first, and keeps the receipt', () =>
  withFiles({}, async directory => {
    const job = [
      '--rollouts',
      '8',
      '--group',
      '4',
      '--steps',
      '2',
      '--repetitions',
      '1',
      '--strategies',
      'cold,prewarm',
    ]
    const { exitCode, stdout, stderr } = await troupe(['tune', ...job, '--live', '--out', 'results'], {
      cwd: directory,
    })
    assert.is(exitCode, 0, stderr)
    assert.match(stderr, /cold at 8, repetition 2: 8 ok, 0 failed/)
    assert.match(stdout, /a model fitted to a ladder measured just now/)
    assert.match(readFileSync(join(directory, 'results', 'ladder.csv'), 'utf8'), /# complete: true/)
  }))

test('where no plan keeps to what was asked the exit status says so', async () => {
  const { exitCode, stdout } = await troupe(['tune', ...SMALL, '--max-step', '1s'])
  assert.is(exitCode, 1)
  assert.match(stdout, /^No plan that was looked at keeps to a step of 1\.00 s; this one comes nearest\./)
})

for (const [argv, says] of [
  [['--rollouts', '15'], /--rollouts 15 is no multiple of --group 4.* Use --rollouts 16/],
  [['--duration', 'fast'], /--duration.* p50=50s,p95=90s/],
] as const)
  test(`bad input is refused before anything is simulated: ${argv.join(' ')}`, async () => {
    const { exitCode, stdout, stderr } = await troupe(['tune', ...SMALL, ...argv])
    assert.equal([exitCode, stdout], [2, ''], stderr)
    assert.match(stderr, says)
  })

const RECEIPTS = {
  'foreign.csv': 'step,loss\n1,2\n',
  'broken.csv': 'n,mode,ready_p50_s,ready_p95_s\n8,cold,fast,3\n',
}

test('a receipt that is none is refused by file, row and column, and nothing is written', () =>
  withFiles(RECEIPTS, async directory => {
    const foreign = await troupe(['tune', '--receipt', 'foreign.csv', '--out', 'x'], { cwd: directory })
    assert.is(foreign.exitCode, 2)
    assert.match(foreign.stderr, /foreign\.csv is no receipt of a ladder: it has no column n, mode/)
    const broken = await troupe(['tune', '--receipt', 'broken.csv', '--out', 'x'], { cwd: directory })
    assert.is(broken.exitCode, 2)
    assert.match(broken.stderr, /broken\.csv: row 2, column ready_p50_s is "fast"/)
    assert.not(existsSync(join(directory, 'x')))
  }))

test.run()
