/** Our engine, starting a server of HUD's for each sandbox, with the workspace and the shell of HUD's SDK in it. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { makeBenchDirectory } from '../../bench/directory.ts'
import type { AgentSpec } from '../../src/agents/agent.ts'
import { quote } from '../../src/quote.ts'
import { SubprocessRuntime } from '../../src/runtimes/subprocess.ts'
import type { TaskRow } from '../../src/taskset/parse-task-rows.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { resultOf, troupe } from '../support/cli.ts'
import { directionSuite } from './support/direction.ts'
import { needHud } from './support/hud.ts'
import { hudVariables, serveTheirsArgv, sourceOf } from './support/places.ts'

const { test, check, rolledOut } = directionSuite(
  "our engine -> HUD's environments",
  "our sandboxes with HUD's servers in them",
)

/** HUD's SDK takes seconds of processor time to load, in each sandbox. */
const SLOW = { deadlineMs: 180_000 }
const temporary = await makeBenchDirectory()
const calc = sourceOf('environments/calc.py')
let python: string

test.before(async () => {
  python = await needHud()
})

test.after(() => temporary.remove())

const module = new URL('./support/agents.js', import.meta.url).href
const agent = (exportName: string, config: Readonly<Record<string, unknown>> = {}): AgentSpec => ({
  kind: 'module',
  url: module,
  exportName,
  config,
})

const REPAIRS = { 'sum(xs) / 2': 'sum(xs) / len(xs)', 'xs[0] - min(xs)': 'max(xs) - min(xs)' }
const command = 'python3 -m pytest -q -p no:cacheprovider'
const fix = (variant: number) => ({ env: 'calc', id: 'fix_calc', args: { variant }, slug: `variant-${variant}` })

async function runAll(rows: readonly TaskRow[], spec: AgentSpec, group: number) {
  const runtime = new SubprocessRuntime(serveTheirsArgv(python, calc), { variables: hudVariables(temporary.directory) })
  try {
    const job = await new Taskset('calc', rows).run(spec, {
      ...{ runtime, group, seed: 1, threads: 1, maxConcurrent: 4, deadlines: { provisioning: 60_000 } },
    })
    await job.close()
    return [...job.runs].sort((one, other) => one.task.slug.localeCompare(other.task.slug) || one.member - other.member)
  } finally {
    await runtime.close()
  }
}

test(
  'the published environment in HUD’s words is repaired by our agent, each rollout in a server of its own',
  async () => {
    const runs = await runAll([0, 2].map(fix), agent('repairer', { repairs: REPAIRS, command }), 2)
    check.equal(
      runs.map(({ error, reward }) => error?.message ?? reward),
      [1, 1, 1, 1],
    )
    check.is(runs[0]?.trajectory.answer, '1 then 0')
    const subscores = z.array(z.object({ name: z.string(), value: z.number() }))
    check.equal(
      subscores.parse(runs[0]?.trajectory.grade?.subscores).map(({ name, value }) => [name, value]),
      [
        ['mean', 1],
        ['spread', 1],
      ],
    )
    check.equal(left(), [])
    rolledOut(4)
  },
  SLOW,
)

test(
  'a half repair is half the reward',
  async () => {
    const [run] = await runAll(
      [fix(0)],
      agent('repairer', { repairs: { 'sum(xs) / 2': 'sum(xs) / len(xs)' }, command }),
      1,
    )
    check.equal([run?.reward, run?.trajectory.answer], [0.5, '1 then 1'])
    rolledOut(1)
  },
  SLOW,
)

const found = z.object({
  protocol: z.string(),
  cwd: z.string(),
  pwd: z.string(),
  apart: z.tuple([z.string(), z.string(), z.number()]),
  file: z.string(),
  listed: z.string(),
  staged: z.string(),
  fed: z.string(),
  long: z.number(),
  variables: z.string(),
})

test(
  'the shell of HUD’s workspace gives all that ours does',
  async () => {
    const [run] = await runAll([{ env: 'calc', id: 'look', slug: 'look' }], agent('prober'), 1)
    check.is(run?.reward, 1, run?.error?.message)
    const { info, content } = z
      .object({ content: z.string(), info: z.object({ found, owner: z.number() }) })
      .parse(run?.trajectory.grade)
    const shell = info.found
    check.is(shell.protocol, 'ssh/2')
    check.is(shell.pwd, shell.cwd)
    check.equal(shell.apart, ['out\n', 'err\n', 5])
    check.is(shell.file, 'Grüße 😀\n')
    check.is(shell.listed, 'file.txt\n')
    check.is(shell.staged, 'as it was staged\n')
    check.is(shell.fed, '200000')
    check.is(shell.long, 588_895)
    check.is(shell.variables, '0')
    check.match(content, /^seen \d+\n$/)
    rolledOut(1)
  },
  SLOW,
)

test(
  '`troupe eval --serve-command` starts it',
  async () => {
    const tasks = join(temporary.directory, 'tasks.json')
    writeFileSync(tasks, JSON.stringify([fix(1)]))
    const serve = `PYTHONDONTWRITEBYTECODE=1 ${serveTheirsArgv(python, calc).map(quote).join(' ')}`
    const config = JSON.stringify({ repairs: REPAIRS, command })
    const { exitCode, stdout, stderr } = await troupe(
      [
        ...['eval', tasks, `${new URL(module).pathname}#repairer`, '--agent-config', config, '--json', '--no-journal'],
        ...['--runtime', 'subprocess', '--serve-command', serve],
      ],
      { cwd: temporary.directory, variables: { TMPDIR: temporary.directory } },
    )
    check.is(exitCode, 0, stderr)
    check.is(z.object({ runs: z.object({ passed: z.number() }) }).parse(resultOf(stdout)).runs.passed, 1)
    check.equal(left(), [])
    rolledOut(1)
  },
  SLOW,
)

/** Workspaces that their servers did not remove. */
function left(): readonly string[] {
  return readdirSync(temporary.directory).filter(name => name.startsWith('hud-calc-'))
}

test.run()
