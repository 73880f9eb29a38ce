import * as assert from 'uvu/assert'
import { calcSource, functionSource, functions } from '../../environments/calc/functions.ts'
import { functionOf, testSource } from '../../environments/calc/tests.ts'
import { brokenIn } from '../../environments/calc/variants.ts'
import { systemClock } from '../../src/clock.ts'
import { gradePytest } from '../../src/environment/graders/pytest.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'
import { loadSource } from '../support/environment-sources.ts'
import { makePlainWorkspace, type PlainWorkspace } from '../support/plain-workspace.ts'
import { suite } from '../support/suite.ts'

const test = suite('the environments')

const { add, env: arith } = await loadSource<typeof import('../../environments/arith/env.ts')>('arith/env.ts')
const { env, fixCalc } = await loadSource<typeof import('../../environments/calc/env.ts')>('calc/env.ts')
const { default: tasks } = await loadSource<typeof import('../../environments/calc/tasks.ts')>('calc/tasks.ts')
const { default: repairer } = await loadSource<typeof import('../../environments/calc/repairer.ts')>('calc/repairer.ts')

async function inWorkspace<Result>(body: (workspace: PlainWorkspace) => Promise<Result>): Promise<Result> {
  const workspace = await makePlainWorkspace()
  try {
    return await body(workspace)
  } finally {
    await workspace.close()
  }
}

/** Grades calc.py as the environment does; the names of the functions whose tests failed, and how many tests failed. */
const judge = (source: string) =>
  inWorkspace(async workspace => {
    await workspace.write('calc.py', source)
    const { score, info } = await gradePytest({ workspace, module: 'calc.py', tests: testSource, expected: 10 })
    const failed: unknown = info?.failed
    const names = Array.isArray(failed) ? failed.map(name => functionOf(String(name))) : []
    return { score, failed: [...new Set(names)], count: names.length }
  })

test('there are 24 variants, of which 8 are held out, and 8 rows of bugs that nobody is shown', () => {
  assert.is(tasks.length, 32)
  assert.is(new Set(tasks.map(({ slug }) => slug)).size, 32)
  assert.is(tasks.filter(({ columns }) => columns?.split === 'held-out').length, 8)
  assert.equal(tasks[31]?.columns, { variant: 23, bugs: 6, split: 'unseen' })
  assert.is(tasks[31]?.slug, 'unseen-23')
  assert.equal(tasks[16]?.columns, { variant: 16, bugs: 5, split: 'held-out' })
  assert.is(tasks.filter(({ columns }) => columns?.split === 'train').length, 16)
  assert.throws(() => fixCalc({ variant: -1 }))
})

test('in each variant the failing tests are those of its broken functions', async () => {
  for (const variant of [0, 1, 2]) {
    const broken = brokenIn(variant)
    const { failed } = await judge(calcSource(broken))
    assert.equal([...failed].sort(), [...broken].sort(), `variant ${variant}`)
  }
})

test('each bug and each mistaken repair fails all tests of its function and no other', async () => {
  const right = calcSource([])
  assert.equal(await judge(right), { score: 1, failed: [], count: 0 })
  // Two runs see every bug: which function a test is about is in its name.
  for (const parity of [0, 1]) {
    const broken = functions.filter((_, place) => place % 2 === parity).map(({ name }) => name)
    const outcome = await judge(calcSource(broken))
    assert.equal([...outcome.failed].sort(), [...broken].sort())
    const twice = broken.filter(name => name === 'median' || name === 'percentile').length
    assert.is(outcome.count, broken.length + twice)
  }
  const everyName = functions.map(({ name }) => name).sort()
  assert.equal((await judge(calcSource(everyName, 'unseen'))).failed.sort(), everyName)
  for (const pick of [0, 1]) {
    const source = functions.map(each => functionSource(each, each.mistaken[pick] ?? each.buggy)).join('\n')
    assert.equal((await judge(source)).failed.sort(), everyName)
  }
})

/** One task from its first yield to its grade, with the repairer in between. */
const solve = (config: Readonly<Record<string, unknown>>, seed: number) =>
  inWorkspace(async workspace => {
    const { signal } = new AbortController()
    const context = { workspace, signal, sessionId: 'sess-1', clock: systemClock }
    const life = env.templates.get('fix_calc')?.body({ variant: 1 }, context)
    const { value: prompt } = (await life?.next()) ?? {}
    const turns: Turn[] = []
    const record = (turn: Turn) => void turns.push(turn)
    const { answer } = await repairer(config).run({ prompt, shell: async () => workspace.shell, seed, signal, record })
    const { value: grade } = (await life?.next(answer)) ?? {}
    await life?.next()
    return { answer, turns, grade, source: await workspace.read('calc.py') }
  })

test('a repairer of skill 1 earns the reward, and records what it did', async () => {
  const { answer, turns, grade, source } = await solve({ skill: 1 }, 7)
  assert.is(answer, 'Every test passes.')
  assert.is(Object(grade).score, 1)
  assert.is(source, calcSource([]))
  const edits = turns.filter(({ text }) => text.startsWith('write calc.py'))
  assert.is(edits.length, brokenIn(1).length, 'one edit a function')
  assert.is(turns.length, 5 + edits.length)
  assert.ok(turns.every(({ toolCalls, atMs, tookMs }) => toolCalls?.length === 1 && atMs >= 0 && tookMs >= 0))
})

test('one of skill 0 earns none, the same way for the same seed', async () => {
  const first = await solve({ skill: 0 }, 7)
  assert.is(Object(first.grade).score, 0)
  assert.match(String(first.answer), 'Still failing')
  assert.is((await solve({ skill: 0 }, 7)).source, first.source)
})

test('a config the repairer does not know is refused before it runs', () => {
  assert.throws(() => repairer({ skill: 2 }))
  assert.throws(() => repairer({ skil: 1 }))
})

test('sums are asked for and graded', async () => {
  assert.is(add({ a: 1, b: 2 }).env, arith.name)
  const { signal } = new AbortController()
  const context = { signal, sessionId: 'sess-1', clock: systemClock }
  await inWorkspace(async workspace => {
    const life = arith.templates.get('add')?.body({ a: 19, b: 23 }, { ...context, workspace })
    assert.match(String((await life?.next())?.value), '19 + 23')
    assert.is((await life?.next('42'))?.value, 1)
  })
})

test.run()
