import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { jobId, makeRun } from '../report/scene.ts'
import { program, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli journal commands')
let cwd = ''
let journal = ''

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  journal = join(cwd, '.troupe/journal')
  const open = await openLmdbJournal({ directory: journal, clock: systemClock, role: 'owner' })
  await open.putJob({ jobId, name: 'calc', startedAt: 1_700_000_000_000, seed: 7, settings: {} })
  const runs = [
    makeRun(2, 0),
    makeRun(2, 1),
    makeRun(3, 0, { outcome: 'infrastructure-error', reward: null, error: { tag: 'host-lost', message: 'gone' } }),
  ]
  for (const run of runs)
    await open.putRun(
      run,
      packTrajectory({
        prompt: 'pytest fails; repair calc.py',
        turns: [
          {
            role: 'assistant',
            text: 'I look first.',
            toolCalls: [
              { name: 'bash', arguments: { command: 'cat calc.py' }, result: 'def mean(x):', isError: false },
            ],
            atMs: 1,
            tookMs: 2,
            tokens: {
              prompt: Uint32Array.of(1, 2, 3),
              output: Uint32Array.of(4),
              logprobs: Float32Array.of(-0.5),
            },
          },
        ],
        answer: 'repaired',
        grade: { score: 1, info: 'ten of ten' },
      }),
    )
  await open.close()
})
test.after(() => rm(cwd, { recursive: true, force: true }))

test('runs lists the jobs, then the runs of one, filtered', async () => {
  const jobs = await troupe(['runs'], { cwd })
  assert.equal([jobs.exitCode, jobs.stderr], [0, ''])
  assert.match(jobs.stdout, /job-1 +│ calc +│ 2023-11-14 22:13:20 +│ +7 +│ +3 +│ +2 +│ +0\.500/)
  const lines = (await troupe(['runs', 'job', '--task', 'fix-v2', '--json'], { cwd })).stdout.trimEnd().split('\n')
  assert.equal(
    lines.map(line => JSON.parse(line).runId),
    ['run-2-0', 'run-2-1'],
  )
  const failed = await troupe(['runs', '--outcome', 'infrastructure-error'], { cwd })
  assert.match(failed.stdout, /run-3-0 +│ fix-v3/)
  assert.not.match(failed.stdout, 'run-2-0')
})

test('show prints one run whole: prompt, turns, tools, answer, grade and timings', async () => {
  const { exitCode, stdout } = await troupe(['show', 'run-2-1'], { cwd })
  assert.is(exitCode, 0)
  for (const part of ['reward 1.000, graded', 'pytest fails; repair calc.py', 'I look first.', '3 tokens in, 1 out'])
    assert.match(stdout, part)
  for (const part of ['bash({"command":"cat calc.py"})\n  def mean(x):', '"info": "ten of ten"', 'agent 200 ms'])
    assert.match(stdout, part)
  const json = JSON.parse((await troupe(['show', 'run-2-1', '--json'], { cwd })).stdout)
  assert.equal(json.trajectory.turns[0].tokens, { prompt: [1, 2, 3], output: [4], logprobs: [-0.5] })
})

test('an id may be shortened as long as it is clear, and an unknown one is an error', async () => {
  assert.match((await troupe(['show', 'run-3'], { cwd })).stdout, 'error host-lost: gone')
  const ambiguous = await troupe(['show', 'run-2'], { cwd })
  assert.is(ambiguous.exitCode, 2)
  assert.match(ambiguous.stderr, '"run-2" is the beginning of 2 run ids: run-2-0, run-2-1. Write more of it.')
  const unknown = await troupe(['show', 'run-9'], { cwd })
  assert.equal([unknown.exitCode, unknown.stdout], [2, ''])
  assert.match(unknown.stderr, 'has no run "run-9"')
})

test('export writes a row a run, to stdout or a file', async () => {
  const { exitCode, stdout, stderr } = await troupe(['export'], { cwd })
  assert.is(exitCode, 0)
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(
    rows.map(row => row.reward),
    [0, 1, null],
  )
  assert.match(stderr, '3 runs of job-1 written to stdout')
  const out = join(cwd, 'runs.parquet')
  assert.is((await troupe(['export', 'job-1', '--format', 'parquet', '--out', out], { cwd })).exitCode, 0)
  assert.is((await readFile(out)).subarray(0, 4).toString(), 'PAR1')
})

test('export to a reader that has seen enough ends without a word', async () => {
  const script = '{ "$@"; echo "exit $?" >&2; } | true'
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, program, 'export'], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.setEncoding('utf8')
  assert.is((await child.stderr.toArray()).join(''), 'exit 0\n')
})

test('export writes the shapes that trainers read, and says how many of what', async () => {
  const export_ = (...more: string[]) => troupe(['export', ...more], { cwd })
  const rowsOf = ({ stdout }: { stdout: string }) =>
    stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  const conversations = await export_('--shape', 'messages')
  assert.match(conversations.stderr, '2 conversations of job-1 written to stdout')
  assert.equal(
    rowsOf(conversations)[0].messages.map((message: { role: string }) => message.role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  const all = await export_('--shape', 'tokens', '--ungraded', 'keep')
  assert.match(all.stderr, '3 samples of job-1')
  assert.equal(
    rowsOf(all).map(row => [row.reward, row.completion_token_ids, row.loss_mask]),
    [
      [0, [4], [1]],
      [1, [4], [1]],
      [null, [4], [1]],
    ],
  )
  const pairs = await export_('--shape', 'preferences')
  assert.match(pairs.stderr, '1 pairs of job-1')
  assert.equal([rowsOf(pairs)[0].chosen_run_id, rowsOf(pairs)[0].rejected_run_id], ['run-2-1', 'run-2-0'])
  for (const [argv, says] of [
    [['--merge-turns'], '--merge-turns and --shape runs do not go together'],
    [['--shape', 'preferences', '--ungraded', 'keep'], '--ungraded keep and --shape preferences do not go together'],
    [['--shape', 'chatml'], 'Allowed choices are runs, messages, tokens, preferences.'],
  ] as const) {
    const { exitCode, stderr, stdout } = await export_(...argv)
    assert.equal([exitCode, stdout], [2, ''])
    assert.ok(stderr.includes(says), stderr)
  }
})

test.run()
