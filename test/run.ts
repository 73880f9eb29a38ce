/**
 * The suite: every `*.test.js` under dist/test, each in a process of its own, one more at a time than there are cores.
 * `node dist/test/run.js [--unit] [--interop] [part of a path …]`; `--unit` leaves out the files under `end-to-end`, `faults`, `killed` and
 * `docs/pages`.
 * Those under `interop`, which need PyPI the first time, run with `--interop`, or when a part names them.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addTallies, FIGURES_PREFIX, TALLY_PREFIX, type Tally } from './support/figures.ts'
import { isTimeNeeded } from './support/need-time.ts'

/** Longer where a suite is asked for more than CI asks of it. */
const FILE_DEADLINE_MS = Number(process.env.TROUPE_TEST_FILE_TIMEOUT_MS ?? 240_000)
const LINGER_MS = 5_000
/** Many processes, or real deadlines. */
const SLOW = /^(docs\/pages|end-to-end|faults|interop|killed)\//
/** Of /proc/self/stat. */
const TICKS_PER_SECOND = 100
/** One more than there are cores: about one file in three waits for a process, a socket or a deadline. */
const WIDTH = availableParallelism() + 1
const here = fileURLToPath(new URL('.', import.meta.url))
const runFile = join(here, 'support', 'run-file.js')

interface FileResult {
  /** Of CPU, by it and by what it started and waited for. */
  readonly cpuSeconds: number
  readonly file: string
  readonly passed: number
  readonly problems: readonly string[]
  /** What it counted, in lines of its own. */
  readonly figures: readonly string[]
  readonly tallies: readonly Tally[]
}

/** A key of whoever runs the suite is not for tests: nothing of theirs reaches HUD's platform. */
const { HUD_API_KEY: _key, ...variables } = process.env

/** Each leads a process group, in which is what its tests have started. */
const running = new Set<ChildProcess>()

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined)
    try {
      process.kill(-pid, signal)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    waiting.length = 0
    for (const child of running) endGroup(child, 'SIGTERM')
    setTimeout(() => {
      for (const child of running) endGroup(child, 'SIGKILL')
      process.exit(code)
    }, LINGER_MS)
  })

let cpuTold = 0
/** What the kernel has added for children that have ended, since it was last asked: of the one that has just ended, therefore. */
function takeCpuOfEnded(): number {
  const [user = 0, system = 0] =
    readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ').slice(13, 15).map(Number) ?? []
  const total = (user + system) / TICKS_PER_SECOND
  const since = total - cpuTold
  cpuTold = total
  return since
}

function runTestFile(file: string): Promise<FileResult> {
  return new Promise(resolve => {
    const child = fork(runFile, [file], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true, env: variables })
    running.add(child)
    let output = ''
    let report: { passed: number; problems: string[] } | undefined
    const extra: string[] = []
    child.stdout?.on('data', data => (output += data))
    child.stderr?.on('data', data => (output += data))
    const endAfter = (deadlineMs: number) =>
      setTimeout(() => {
        extra.push(`took longer than ${deadlineMs} ms`)
        endGroup(child, 'SIGKILL')
      }, deadlineMs)
    let timer = endAfter(FILE_DEADLINE_MS)
    child.on('message', message => {
      clearTimeout(timer)
      if (isTimeNeeded(message)) {
        timer = endAfter(message.needsMs)
        return
      }
      report = message as { passed: number; problems: string[] }
      timer = setTimeout(() => {
        extra.push(`the process did not end within ${LINGER_MS} ms of its last test: a handle was left open`)
        endGroup(child, 'SIGKILL')
      }, LINGER_MS)
    })
    let cpuSeconds = 0
    child.once('exit', () => {
      cpuSeconds = takeCpuOfEnded()
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      if (report === undefined) extra.push(`ended without a report (exit ${code}, signal ${signal})`)
      else if (code !== 0 && report.problems.length === 0 && extra.length === 0) extra.push(`exit code ${code}`)
      const problems = [...(report?.problems ?? []), ...extra]
      if (problems.length > 0) process.stdout.write(output)
      const after = (prefix: string) =>
        output.split('\n').flatMap(line => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []))
      const tallies = after(TALLY_PREFIX).map(line => JSON.parse(line) as Tally)
      const figures = after(FIGURES_PREFIX)
      resolve({ file: relative(here, file), passed: report?.passed ?? 0, problems, figures, tallies, cpuSeconds })
    })
  })
}

const filters = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
const unitOnly = process.argv.includes('--unit')
const withInterop = process.argv.includes('--interop') || filters.some(part => part.startsWith('interop'))
const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.js'))
  .filter(name => !unitOnly || !/^(end-to-end|faults|killed|docs\/pages)\//.test(name))
  .filter(name => withInterop || !name.startsWith('interop/'))
  .filter(name => filters.length === 0 || filters.some(part => name.includes(part)))

/** What takes long begins first, so that the end has only short ones; neighbours in the tree, which often wait for the same, stand apart. */
function inTurn(names: readonly string[]): string[] {
  const place = (name: string) => createHash('sha256').update(name).digest('hex')
  const keyed = names.map(name => ({ name, key: `${SLOW.test(name) ? 0 : 1}${place(name)}` }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ name }) => name)
}

const results: FileResult[] = []
const waiting = inTurn(files)
async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const begun = performance.now()
    const result = await runTestFile(join(here, name))
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
    results.push(result)
    console.log(
      `${result.problems.length === 0 ? 'ok  ' : 'FAIL'} ${result.file} (${result.passed}, ${seconds} s, CPU ${result.cpuSeconds.toFixed(1)} s)`,
    )
    for (const line of result.figures) console.log(`     ${line}`)
  }
}
await Promise.all(Array.from({ length: WIDTH }, work))

const failures = results.filter(result => result.problems.length > 0)
for (const { file, problems } of failures)
  console.log(`\n${file}\n${problems.map(problem => `  ${problem}`).join('\n')}`)
if (files.length === 0) console.log(`no test file matches ${filters.join(' ')}`)
const tallied = addTallies(results.flatMap(({ tallies }) => tallies))
if (tallied.length > 0) console.log(`\n${tallied.join('\n')}`)
const failed = failures.reduce((sum, { problems }) => sum + problems.length, files.length === 0 ? 1 : 0)
console.log(`\n${results.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
