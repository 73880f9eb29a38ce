import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import * as assert from 'uvu/assert'
import { sleep, systemClock } from '../../src/clock.ts'
import { guardGroup } from '../../src/runtimes/guard.ts'
import { suite } from '../support/suite.ts'

const test = suite('guard of a process group')

const guard = new URL('../../src/runtimes/guard.js', import.meta.url)

/** A program that ends when its stdin closes, and one whose thread is stuck before it can hear that. */
const LISTENS = `process.stdin.on('end', () => process.exit()).resume(); console.log('up')`
const STUCK = `console.log('up'); for (;;);`

/** Starts `program` at the head of a group, held by an engine that is then killed; what `before` does comes first. */
async function killEngineOf(program: string, graceSeconds: number, before: (pid: number) => void): Promise<number> {
  const engine = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { spawn } from 'node:child_process'
       import { guardGroup } from '${guard}'
       const held = spawn(process.execPath, ['--eval', process.argv[1]], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
       guardGroup(held.pid, ${graceSeconds})
       held.stdout.once('data', () => console.log(held.pid))`,
      program,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = await once(createInterface({ input: engine.stdout }), 'line')
  const pid = Number(line)
  before(pid)
  engine.kill('SIGKILL')
  await once(engine, 'close')
  return pid
}

async function untilEnded(pid: number): Promise<void> {
  while (isRunning(pid)) await sleep(systemClock, 50)
}

/** False for a zombie too: whoever inherits it may take a moment to look. */
function isRunning(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== ''
  } catch {
    return false
  }
}

test('a process that was stopped goes on when the engine is killed, and ends by itself', async () => {
  const pid = await killEngineOf(LISTENS, 3_600, held => process.kill(held, 'SIGSTOP'))
  await untilEnded(pid)
})

test('a process that is stuck is killed after the grace', async () => {
  const pid = await killEngineOf(STUCK, 1, () => undefined)
  await untilEnded(pid)
})

test('a guard that is dismissed leaves its group alone, twice as once', async () => {
  const held = spawn(process.execPath, ['--eval', LISTENS], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  await once(held.stdout, 'data')
  const { dismiss } = guardGroup(held.pid ?? 0, 0)
  await Promise.all([dismiss(), dismiss()])
  assert.is(held.exitCode ?? held.signalCode, null)
  held.stdin.end()
  assert.equal(await once(held, 'close'), [0, null])
})

test.run()
