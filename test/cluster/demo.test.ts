/** `npm run cluster:demo`, without the build before it: what it shows, and that nothing is left of it. */
import { spawn } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as assert from 'uvu/assert'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('cluster demo')
const SLOW = { deadlineMs: 120_000 }

interface Shown {
  readonly lines: readonly string[]
  readonly code: number | null
  readonly left: readonly string[]
}

/** Runs it with a temporary directory of its own. `onLine` may send it a signal. */
async function demo(
  argv: readonly string[],
  onLine: (line: string, tell: (signal: NodeJS.Signals) => void) => void = () => {},
) {
  let shown: Shown | undefined
  await withFiles({}, async directory => {
    const temporary = join(directory, 'tmp')
    await mkdir(temporary)
    const child = spawn(process.execPath, [join(repository, 'scripts/cluster-demo.mjs'), ...argv], {
      env: { ...process.env, TMPDIR: temporary, HUD_TELEMETRY_ENABLED: 'false', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const lines: string[] = []
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', line => {
        lines.push(line)
        onLine(line, signal => void child.kill(signal))
      })
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    // Whatever of it still ran would have its files here.
    shown = { lines, code, left: await readdir(temporary) }
  })
  assert.ok(shown !== undefined)
  return shown
}

test(
  'two workers roll out what a training wants, and all of it is gone afterwards',
  async () => {
    const { lines, code, left } = await demo(['--steps', '1'])
    const text = lines.join('\n')
    assert.is(code, 0, text)
    for (const name of ['worker-1', 'worker-2']) assert.match(text, new RegExp(`^${name} │ working for job-`, 'm'))
    assert.match(text, /^training │ step 1\/1 {2}\d+\/32 solved/m)
    assert.match(text, /^runs {5}│ │ job-\S+ │ arith .*│ +32 │ +32 │/m)
    assert.match(lines.at(-1) ?? '', /^demo {5}│ .* nothing is left of them$/)
    assert.equal(left, [])
  },
  SLOW,
)

test(
  'Ctrl-C ends the training in order, then the workers and the server',
  async () => {
    let isTold = false
    const { lines, code, left } = await demo(['--steps', '50'], (line, tell) => {
      if (isTold || !line.includes('step 1/50')) return
      isTold = true
      tell('SIGINT')
    })
    const text = lines.join('\n')
    assert.is(code, 130, text)
    assert.match(text, /^training │ what is finished is kept; the same command goes on with job-/m)
    assert.match(lines.at(-1) ?? '', /nothing is left of them$/)
    assert.equal(left, [])
  },
  SLOW,
)

test.run()
