import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { openLmdbJournal } from '../../../src/journal/lmdb-journal.ts'
import type { TrainingHistory } from '../../../src/training/loop/index.ts'
import { withDirectory } from '../../journal/temporary.ts'
import { suite } from '../../support/suite.ts'
import { timeless } from './scene.ts'

const test = suite('train on the real engine, killed')
const program = fileURLToPath(new URL('./killed-process.js', import.meta.url))

interface Printed {
  readonly resumed: boolean
  readonly history: TrainingHistory
  readonly applied: readonly (readonly string[])[]
}

/** What the process printed; undefined when it was killed. */
function runProcess(directory: string, kill: string): Promise<Printed | undefined> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, directory, kill], { timeout: 25_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout))
      else if (error.signal === 'SIGKILL') resolve(undefined)
      else reject(new Error(`${error.message}\n${stderr}`))
    })
  })
}

function readStarts(directory: string): string[] {
  const file = join(directory, 'starts')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

async function readDurableSeeds(directory: string): Promise<Set<string>> {
  const journal = await openLmdbJournal({
    directory: join(directory, 'journal'),
    clock: systemClock,
    role: 'owner',
    readOnly: true,
  })
  try {
    const seeds = new Set<string>()
    for (const { jobId } of await journal.jobs())
      for await (const run of journal.runs(jobId)) seeds.add(String(run.seed))
    return seeds
  } finally {
    await journal.close()
  }
}

const withoutIds = (printed: Printed | undefined) => {
  assert.ok(printed)
  const { steps, evaluations } = timeless(printed.history)
  // A call whose answer went under with its process has no figures.
  return { steps: steps.map(step => ({ ...step, loss: 0, datums: 0 })), evaluations }
}

test(
  'after kill -9 the same command goes on: no graded run again, no group trained on twice, the same history',
  () =>
    withDirectory(async whole => {
      const expected = await runProcess(whole, 'none')
      assert.is(expected?.history.steps.length, 2)
      for (const kill of ['start 7', 'after forward-backward 2', 'after optim-step 1'])
        await withDirectory(async directory => {
          assert.is(await runProcess(directory, kill), undefined, `${kill}: it was killed`)
          const durable = await readDurableSeeds(directory)
          const before = readStarts(directory).length
          const resumed = await runProcess(directory, 'none')
          assert.is(resumed?.resumed, true)
          assert.equal(withoutIds(resumed), withoutIds(expected), kill)
          const again = readStarts(directory).slice(before)
          assert.equal(
            again.filter(seed => durable.has(seed)),
            [],
            `${kill}: runs that were graded are not run again`,
          )
          const groups = resumed?.applied.flat() ?? []
          assert.is(new Set(groups).size, groups.length)
        })
    }),
  { deadlineMs: 60_000 },
)

test.run()
