/**
 * Runs the test file named on the command line in this process and reports its tally to the runner. The process is left to end by itself: one that
 * does not has left a handle open, which the runner counts as a failure.
 */
import { pathToFileURL } from 'node:url'

const file = process.argv[2]
if (file === undefined || process.send === undefined) throw new Error('run-file is started by test/run.js')
Object.assign(globalThis, { UVU_DEFER: 1, UVU_QUEUE: [[file]] })
const { exec } = await import('uvu')
const { tally } = await import('./suite.ts')

// The runner is gone, however it ended: so are this process and those that its tests have started.
const orphaned = () => process.kill(-process.pid, 'SIGTERM')
process.once('disconnect', orphaned)

const problems: string[] = []
try {
  await import(pathToFileURL(file).href)
  await exec(false)
} catch (error) {
  problems.push(`outside a test: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
}
for (const { name, started } of tally.suites)
  if (!started) problems.push(`suite "${name}" is never run: its .run() is missing`)
if (tally.declared === 0) problems.push('declares no test')
if (tally.executed !== tally.declared) problems.push(`declares ${tally.declared} tests, executed ${tally.executed}`)
for (const failure of tally.failures)
  problems.push(
    `${failure.suite} › ${failure.test}: ${failure.error instanceof Error ? failure.error.message : String(failure.error)}`,
  )

process.send({ passed: tally.passed, problems })
process.off('disconnect', orphaned)
process.disconnect()
