/**
 * Ways to a reward that was not earned, against the calc task and against tasks that a command judges: each in a session of its own, by
 * an agent with nothing but its shell, and graded by the environment. Beside most of them the same tricks around honest work, which they must not cost its reward.
 */
import { mkdtemp, rm, writeFile as write } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { calcSource } from '../../environments/calc/functions.ts'
import { brokenIn } from '../../environments/calc/variants.ts'
import { CALC, type Served, serve } from '../isolation/served.ts'
import { tellFigures } from '../support/figures.ts'
import { suite } from '../support/suite.ts'
import { type Attempt, attempt, type Task } from './attempt.ts'
import { type Cheat, writeFile } from './cheat.ts'
import { apart, shared } from './commands.ts'
import { COMMANDS_ENVIRONMENT, RIGHT, WRONG } from './commands-environment.ts'
import { leftovers } from './leftovers.ts'
import { modules } from './modules.ts'

const test = suite('reward integrity')
const MIB = 1024 * 1024
const limits = { memoryBytes: 512 * MIB, diskBytes: 64 * MIB }
/** The grader's deadline for calc is 10 s; what comes on top is the machine's. */
const GRADED_WITHIN_MS = 25_000
/** Some wait for a deadline, and others need the processor meanwhile. */
const AT_ONCE = 6

interface Table {
  readonly name: string
  readonly cheats: readonly Cheat[]
  readonly task: Task
  readonly file: string
  readonly wrong: string
  readonly right: string
  readonly environment: 'calc' | 'commands'
}

const calc = {
  task: { id: 'fix_calc', args: { variant: 0 } },
  file: 'calc.py',
  wrong: calcSource(brokenIn(0)),
  right: calcSource([]),
  environment: 'calc',
} as const
const sorted = { file: 'answer.txt', wrong: WRONG, right: RIGHT, environment: 'commands' } as const
const TABLES: readonly Table[] = [
  { name: 'beside calc.py', cheats: leftovers, ...calc },
  { name: 'in calc.py', cheats: modules, ...calc },
  { name: 'a command in the workspace', cheats: shared, task: { id: 'shared', args: {} }, ...sorted },
  { name: 'a command apart', cheats: apart, task: { id: 'apart', args: {} }, ...sorted },
]

interface Row {
  readonly title: string
  readonly table: Table
  readonly cheat: Cheat
  readonly isHonest: boolean
  readonly deserves: number
}

const rows: readonly Row[] = TABLES.flatMap(table =>
  table.cheats.flatMap(cheat => {
    const row = { table, cheat }
    const plain = { ...row, title: `${table.name}: ${cheat.what}`, isHonest: false, deserves: 0 }
    const { honest } = cheat
    return honest === undefined
      ? [plain]
      : [plain, { ...row, title: `${plain.title}, around honest work`, isHonest: true, deserves: honest }]
  }),
)

let directory = ''
const served = new Map<Table['environment'], Served>()
const running = new Map<Row, Promise<Attempt>>()
let paid = 0
let unpaid = 0

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'troupe-reward-'))
  const commands = join(directory, 'env.ts')
  await write(commands, COMMANDS_ENVIRONMENT)
  served.set('calc', await serve(CALC, { limits }))
  served.set('commands', await serve(commands, { limits }))
  startAll()
})
test.after(async () => {
  await Promise.allSettled(running.values())
  for (const each of served.values()) await each.close()
  await rm(directory, { recursive: true, force: true })
})

/** A few at a time, those first that wait for a deadline; each test waits for its own. */
function startAll(): void {
  const waiting: (() => Promise<void>)[] = []
  for (const row of [...rows].sort(
    (one, other) => Number(other.cheat.slow ?? false) - Number(one.cheat.slow ?? false),
  )) {
    const done = new Promise<Attempt>((resolve, reject) => {
      waiting.push(() => run(row).then(resolve, reject))
    })
    done.catch(() => {}) // told by the row's test
    running.set(row, done)
  }
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next()
  }
  for (let lane = 0; lane < AT_ONCE; lane += 1) void work()
}

function run({ table, cheat, isHonest }: Row): Promise<Attempt> {
  const { file, wrong, right, task, environment } = table
  const otherwise = isHonest ? right : wrong
  const commands = [
    writeFile(file, cheat.writes?.(otherwise) ?? otherwise),
    ...(cheat.leaves === undefined ? [] : [cheat.leaves]),
  ]
  const host = served.get(environment)
  if (host === undefined) throw new Error(`nothing serves ${environment}`)
  return attempt(host, task, commands)
}

for (const row of rows) {
  test(
    `${row.title}: ${row.deserves}`,
    async () => {
      const { score, details, tookMs } = (await running.get(row)) ?? {}
      if (!row.isHonest && (score ?? 0) > 0) paid += 1
      if (row.isHonest && score !== row.deserves) unpaid += 1
      assert.is(score, row.deserves, details)
      assert.ok((tookMs ?? 0) < GRADED_WITHIN_MS, `graded in ${tookMs} ms`)
    },
    { deadlineMs: 90_000 },
  )
}

test('none of them paid, and none cost honest work its reward', () => {
  const cheats = rows.filter(({ isHonest }) => !isHonest).length
  tellFigures(`${cheats} cheats, ${paid} paid; ${rows.length - cheats} of them around honest work, ${unpaid} misjudged`)
  assert.equal([paid, unpaid], [0, 0])
})

test.run()
