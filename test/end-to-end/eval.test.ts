import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { repository, withScene } from './scene.ts'

const test = suite('eval, end to end')
const calc = (name: string) => join(repository, 'environments/calc', name)

test(
  'an evaluation of calc is graded, reported and kept, and leaves nothing behind',
  () =>
    withScene(async scene => {
      const argv = ['eval', calc('tasks.ts'), calc('repairer.ts'), '--task-ids', '0,1', '--group', '2', '--chunk', '2']
      const { exit, stdout, stderr } = await scene.run([...argv, '--threads', '1', '--seed', '1', '--json'])
      assert.is(exit, 0, stderr)
      const report = resultOf(stdout)
      const types = stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).type)
      assert.is(types.indexOf('result'), types.length - 1, 'events, one result behind them, and nothing else')
      assert.equal([report.runs.planned, report.runs.graded, report.groups.complete], [4, 4, 2])
      assert.equal([report.chunks.count, report.chunks.runs], [2, 4])
      assert.equal(report.failures, [])
      assert.equal(scene.leftovers(), [])

      const runs = (await scene.run(['runs', report.jobId, '--json'])).stdout.trimEnd().split('\n')
      assert.is(runs.length, 4)
      const first = JSON.parse(runs[0] ?? '')
      const shown = await scene.run(['show', first.runId])
      assert.is(shown.exit, 0, shown.stderr)
      assert.match(shown.stdout, /Running pytest in your workspace fails/)
      assert.match(shown.stdout, /calc\.py/)

      const lines = (await scene.run(['export', '--format', 'jsonl'])).stdout.trimEnd().split('\n')
      assert.equal(
        lines.map(line => JSON.parse(line).reward),
        runs.map(line => JSON.parse(line).reward),
      )
      const file = join(scene.directory, 'runs.parquet')
      assert.is((await scene.run(['export', '--format', 'parquet', '--out', file])).exit, 0)
      const bytes = readFileSync(file)
      const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
      assert.is((await parquetReadObjects({ file: buffer })).length, 4)
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

for (const size of ['4', 'auto', '50'])
  test(
    `--pool ${size} has sandboxes ready that rollouts then use`,
    () =>
      withScene(async scene => {
        const { exit, stdout, stderr } = await scene.run(
          scene.notes({}, '--group', '4', '--max-concurrent', '2', '--pool', size),
        )
        assert.is(exit, 0, stderr)
        const { leases, runs } = resultOf(stdout)
        assert.is(runs.graded, 12)
        assert.is(leases.hit + leases.cold + leases.fork, 12)
        if (size !== 'auto') assert.ok(leases.hit > 0, stdout)
        assert.equal(scene.leftovers(), [])
      }),
    { deadlineMs: 60_000 },
  )

test.run()
