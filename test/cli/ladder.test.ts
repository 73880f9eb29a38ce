import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { startEmulator } from '../../src/emulator/index.ts'
import { readReceipt, toLadderRows } from '../../src/receipts/index.ts'
import { resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('troupe ladder')

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const LONG = { deadlineMs: 120_000 }

const rowsOf = (directory: string) => {
  const path = join(directory, 'ladder', 'ladder.csv')
  const receipt = readReceipt(readFileSync(path, 'utf8'), path)
  return { receipt, rows: toLadderRows(receipt, path) }
}

test(
  'with --json it tells each level as it is done and the rows last; with --quiet only where the files are',
  () =>
    withFiles({}, async cwd => {
      const argv = ['ladder', '--levels', '1,2', '--repetitions', '1', '--strategies', 'cold', '--json', '--quiet']
      const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
      assert.equal([exitCode, stderr], [0, 'written: ladder/ladder.csv, ladder/ladder.svg, ladder/ladder.html\n'])
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
      const levels = lines.filter(({ type }) => type === 'level-measured')
      assert.equal(
        levels.map(({ strategy, width, usable, failed }) => [strategy, width, usable, failed]),
        [
          ['cold', 1, 1, 0],
          ['cold', 2, 2, 0],
        ],
      )
      const { done, total, leftMs } = lines.filter(({ type }) => type === 'progress').at(-1)
      assert.equal([done, total, leftMs], [2, 2, null])
      assert.equal(
        resultOf(stdout).rows.map(({ n, mode }: { n: number; mode: string }) => [n, mode]),
        [
          [1, 'cold'],
          [2, 'cold'],
        ],
      )
    }),
  LONG,
)

test(
  'on sandboxes of this machine it prints a table and writes receipt, picture and page',
  () =>
    withFiles({}, async cwd => {
      const { exitCode, stdout, stderr } = await troupe(['ladder', '--levels', '4,1', '--repetitions', '2'], { cwd })
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /│ 4 │ prewarm +│ +2 │ +8 │ +0 │ +0 │/)
      assert.match(stdout, /Fewer than 20 samples in a level \(1, 4 wide\): the largest of them/)
      const { receipt, rows } = rowsOf(cwd)
      assert.equal(
        rows.map(({ n, mode, ok, failed, leaked }) => [n, mode, ok, failed, leaked]),
        [1, 1, 4, 4].flatMap(n => ['cold', 'prewarm'].map(mode => [n, mode, n, 0, 0])),
      )
      assert.ok(rows.every(({ hit_rate, mode }) => hit_rate === (mode === 'prewarm' ? 1 : 0)))
      assert.ok(rows.every(({ engine_cpu_ms, ready_p50_s }) => Number(engine_cpu_ms) > 0 && Number(ready_p50_s) > 0))
      assert.is(receipt.about.complete, 'true')
      assert.match(
        receipt.about.command ?? '',
        /^troupe ladder --levels 1,4 --repetitions 2 .*--runtime local --seed 1$/,
      )
      assert.match(readFileSync(join(cwd, 'ladder', 'ladder.svg'), 'utf8'), /<svg/)
      assert.match(readFileSync(join(cwd, 'ladder', 'ladder.html'), 'utf8'), /<html/)
      assert.equal(readdirSync(join(cwd, 'ladder')).toSorted(), ['ladder.csv', 'ladder.html', 'ladder.svg'])
    }),
  LONG,
)

test(
  'on an emulator of its own every strategy is measured, beside the published ladder',
  () =>
    withFiles({}, async cwd => {
      const argv = [
        'ladder',
        '--emulator',
        '--speed',
        '50',
        '--levels',
        '8',
        '--repetitions',
        '1',
        '--compare',
        'published',
      ]
      const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /compared s/)
      const { rows, receipt } = rowsOf(cwd)
      assert.match(receipt.about.provider ?? '', /emulated Daytona at speed 50/)
      const kinds = Object.fromEntries(
        rows.map(({ mode, hits, colds, claims, forks }) => [mode, { hits, colds, claims, forks }]),
      )
      assert.equal(kinds, {
        cold: { hits: 0, colds: 8, claims: 0, forks: 0 },
        prewarm: { hits: 8, colds: 0, claims: 0, forks: 0 },
        fork: { hits: 0, colds: 0, claims: 0, forks: 8 },
        'provider-pool': { hits: 0, colds: 0, claims: 8, forks: 0 },
      })
      assert.ok(rows.every(({ leaked, failed }) => leaked === 0 && failed === 0))
      assert.ok(rows.every(({ emulator_cpu_ms }) => Number(emulator_cpu_ms) > 0))
    }),
  LONG,
)

test(
  'whole rollouts are told by their stages',
  () =>
    withFiles({}, async cwd => {
      const arith = join(repository, 'environments', 'arith')
      const argv = [
        'ladder',
        arith,
        join(arith, 'adder.ts'),
        '--mode',
        'rollout',
        '--levels',
        '6',
        '--repetitions',
        '1',
      ]
      const { exitCode, stderr } = await troupe([...argv, '--strategies', 'prewarm', '--threads', '0'], { cwd })
      assert.is(exitCode, 0, stderr)
      const [row] = rowsOf(cwd).rows
      assert.equal([row?.work, row?.ok, row?.failed, row?.leaked], ['rollout', 6, 0, 0])
      for (const stage of ['lease_p50_ms', 'start_p50_ms', 'agent_p95_ms', 'grade_p99_ms'] as const)
        assert.ok(row?.[stage] !== undefined, stage)
      assert.ok(Number(row?.rollouts_per_s) > 0)
    }),
  LONG,
)

test(
  'interrupted, it keeps the levels that are done and marks the receipt',
  () =>
    withFiles({}, async cwd => {
      const argv = ['ladder', '--levels', '1,2,4,8', '--repetitions', '500', '--strategies', 'cold']
      const child = spawn(process.execPath, [program, ...argv], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
      const seen = await untilSaid(child, /cold at 1, repetition 2:/)
      child.kill('SIGINT')
      const [code] = await once(child, 'exit')
      assert.is(code, 130, seen())
      const { receipt, rows } = rowsOf(cwd)
      assert.match(receipt.about.complete ?? '', /^false: interrupted/)
      assert.ok(rows.length >= 2 && rows.length < 500)
      assert.ok(existsSync(join(cwd, 'ladder', 'ladder.html')))
    }),
  LONG,
)

test('a receipt is drawn again without anything being measured', () =>
  withFiles(
    {
      'old.csv':
        'n,rep,mode,ok,failed,ready_p50_s,ready_p95_s,ready_min_s,ready_max_s,spread_s,wall_s\n8,1,cold,8,0,2,3,1,3,2,9\n',
    },
    async cwd => {
      const { exitCode, stdout, stderr } = await troupe(['ladder', '--receipt', 'old.csv', '--compare', 'published'], {
        cwd,
      })
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /│ 8 │ cold .*│ +2\.8 │ +0\.714 × │/)
      assert.equal(readdirSync(join(cwd, 'ladder')).toSorted(), ['ladder.html', 'ladder.svg'])
    },
  ))

test(
  'creates that failed and were tried again are told by kind, and nothing failed for it',
  async () => {
    const emulator = await startEmulator({ speed: 50, isolation: 'none' })
    // The first sandbox is the uncounted one, and gone before the counted ones are made.
    const setting = setInterval(() => {
      if (emulator.counts.deleted === 0) return
      emulator.faults.set({ kind: 'create-error', next: 3 })
      clearInterval(setting)
    }, 1)
    try {
      await withFiles({}, async cwd => {
        const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
        const env = join(repository, 'environments', 'arith', 'env.ts')
        const serve = `troupe serve ${env} --host 0.0.0.0 --port 8765 --insecure`
        const where = ['--runtime', 'daytona', '--snapshot', 'daytonaio/sandbox', '--serve-command', serve]
        const argv = ['ladder', ...where, '--levels', '8', '--strategies', 'cold', '--repetitions', '1']
        const { exitCode, stdout, stderr } = await troupe(argv, { cwd, variables })
        assert.is(exitCode, 0, stderr)
        const [row] = rowsOf(cwd).rows
        assert.equal([row?.ok, row?.failed, row?.leaked], [8, 0, 0])
        assert.ok(Number(row?.create_failures) > 0)
        assert.match(row?.errors ?? '', /^\S+:\d+/)
        assert.match(stdout, /cold at 8: \d+ × \S+/)
      })
    } finally {
      clearInterval(setting)
      await emulator.close()
    }
  },
  LONG,
)

test('a level beyond the account’s quota is refused before the first create', async () => {
  const emulator = await startEmulator({ quota: { cpu: 8, memory: 8, disk: 40 }, speed: 50, isolation: 'none' })
  try {
    await withFiles({}, async cwd => {
      const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
      const where = ['--runtime', 'daytona', '--snapshot', 'daytonaio/sandbox', '--serve-command', 'true']
      const argv = ['ladder', ...where, '--levels', '1,64', '--strategies', 'cold', '--repetitions', '1']
      const { exitCode, stderr } = await troupe(argv, { cwd, variables })
      assert.is(exitCode, 2, stderr)
      assert.match(stderr, /64/)
      assert.is(emulator.counts.created, 0)
      assert.not(existsSync(join(cwd, 'ladder')))
    })
  } finally {
    await emulator.close()
  }
})

const FOREIGN =
  'n,rep,mode,ok,failed,ready_p50_s,ready_p95_s,ready_min_s,ready_max_s,spread_s,wall_s\n8,1,cold,8,0,soon,3,1,3,2,9\n'

for (const [argv, says] of [
  [['--levels', '0,8'], /--levels.*whole numbers from 1 to 4096/],
  [['--strategies', 'cold,tepid'], /--strategies.*cold, provider-pool, prewarm, fork/],
  [['--strategies', 'cold,fork'], /local runtime cannot do fork/],
  [['--strategies', 'provider-pool'], /local runtime cannot do provider-pool/],
  [['--mode', 'rollout'], /the agent is missing/],
  [['--speed', '3'], /--emulator is missing/],
  [['--emulator', '--runtime', 'local'], /--emulator and --runtime do not go together/],
  [['--compare', 'nowhere.csv'], /nowhere\.csv.*no such file/],
  [['--compare', 'foreign.csv'], /foreign\.csv.*2.*ready_p50_s.*soon/s],
] as const)
  test(`bad input is refused before anything is made: ${argv.join(' ')}`, () =>
    withFiles({ 'foreign.csv': FOREIGN }, async cwd => {
      const { exitCode, stdout, stderr } = await troupe(['ladder', ...argv], { cwd })
      assert.is(exitCode, 2, stderr)
      assert.match(stderr, says)
      assert.is(stdout, '')
      assert.not(existsSync(join(cwd, 'ladder')))
    }))

test('a level that the limit on open files cannot hold is refused with what would do', () =>
  withFiles({}, async cwd => {
    const child = spawn(
      'sh',
      ['-c', 'ulimit -n 512 && exec "$0" "$@"', process.execPath, program, 'ladder', '--levels', '8,1024'],
      {
        cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [code] = await once(child, 'close')
    assert.is(code, 2, stderr)
    assert.match(stderr, /level 1024 .* may have 512/)
  }))

/** Resolves once `child` has said it on stderr; with all that it said. */
async function untilSaid({ stderr }: ChildProcess, what: RegExp): Promise<() => string> {
  let text = ''
  await new Promise<void>(resolve => {
    stderr?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (what.test(text)) resolve()
    })
    stderr?.once('close', resolve)
  })
  return () => text
}

test.run()
