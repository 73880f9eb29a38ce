/** Task rows written by one side and read by the other, and the slugs that both compute. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { z } from 'zod'
import { makeBenchDirectory } from '../../bench/directory.ts'
import { defaultSlug } from '../../src/taskset/slug.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { failure } from '../wire/support/failure.ts'
import { directionSuite } from './support/direction.ts'
import { type Hud, openHud } from './support/hud.ts'
import { sourceOf } from './support/places.ts'

const { test, check } = directionSuite('task rows, both ways', 'task rows of HUD and of ours')

const temporary = await makeBenchDirectory()
let hud: Hud

test.before(async () => {
  hud = await openHud()
})

test.after(async () => {
  await hud?.end()
  temporary.remove()
})

const slugs = (texts: readonly string[]) => hud.ask(z.array(z.string()), 'slugs', { texts })
const inTemporary = (name: string) => join(temporary.directory, name)

/** What JSON can say, and its corners: any text, doubles of every size, whole numbers that a double holds exactly. */
const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 })
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.constantFrom(1e-4, 9.999e-5, 1e16, 1e17, 123456789012345680000, 1e21, 1e22, 5e-324, -0, 2 ** 53, -(2 ** 53)),
)
// No row has an argument of this name: see “is refused”.
const key = fc.string({ unit: 'binary' }).filter(name => name !== '__proto__')
const args = fc.dictionary(key, fc.oneof(value, number, fc.array(number)), { noNullPrototype: true })

test('a slug is the one that Python computes from the same JSON, whatever the arguments', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(args, { minLength: 1, maxLength: 20 }), async many => {
      const theirs = await slugs(many.map(each => JSON.stringify(each)))
      check.equal(
        many.map(each => defaultSlug('t', JSON.parse(JSON.stringify(each)))),
        theirs,
      )
    }),
    { numRuns: 200 },
  )
})

test('a template mints the slugs that ours does', async () => {
  const given = [{ a: 1 }, { a: 1, b: 2 }, { b: 3, a: -4 }]
  const minted = await hud.ask(z.array(z.string()), 'mint', {
    path: sourceOf('environments/words.py'),
    arguments: given,
  })
  check.equal(
    minted,
    given.map(each => defaultSlug('add', each)),
  )
})

const ROWS = [
  { env: 'e', id: 'plain' },
  { env: 'e', id: 't', args: { variant: 0 } },
  { env: 'e', id: 't', args: { text: 'Grüße, 你好 😀 \u007f "\\/\n', n: null, deep: [{ x: [1.5, -2e-9, true] }] } },
  {
    ...{
      env: 'e',
      id: 't',
      slug: 'named',
      args: { variant: 2 },
      columns: { difficulty: 'easy', level: 3, good: true },
    },
    ...{ validation: [{ name: 'bash', arguments: { command: 'ls' } }], agent_config: { max_steps: 3 } },
    runtime_config: { image: 'calc:1', resources: { cpu: 0.5, memory_mb: 512 }, limits: { run_timeout_s: 600 } },
    verifier: { env: 'judge', id: 'look', args: { strict: true } },
  },
] as const

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const theirRows = async (path: string): Promise<readonly unknown[]> =>
  (await hud.ask(z.array(z.string()), 'read_rows', { path })).map(text => JSON.parse(text))

for (const ending of ['json', 'jsonl'])
  test(`rows of every field, written by HUD's to_file to .${ending}, are read by us as HUD reads them`, async () => {
    const path = inTemporary(`theirs.${ending}`)
    await hud.ask(z.null(), 'write_rows', { rows: ROWS, path })
    const { tasks } = await Taskset.load(path)
    check.equal(plain(tasks), await theirRows(path))
    check.equal(
      tasks.map(({ slug }) => slug),
      ['plain', defaultSlug('t', ROWS[1].args), defaultSlug('t', ROWS[2].args), 'named'],
    )
  })

for (const ending of ['json', 'jsonl'])
  test(`rows of every field, saved by us to .${ending}, are read by HUD as we hold them`, async () => {
    const path = inTemporary(`ours.${ending}`)
    const taskset = new Taskset('ours', ROWS)
    await taskset.save(path)
    check.equal(await theirRows(path), plain(taskset.tasks))
    check.equal(plain((await Taskset.load(path)).tasks), plain(taskset.tasks))
  })

test('rows without slugs get the same ones on both sides', async () => {
  const path = inTemporary('bare.jsonl')
  const rows = fc
    .sample(args, { numRuns: 100, seed: 7 })
    .map((each, place) => ({ env: 'e', id: `t${place}`, args: each }))
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const { tasks } = await Taskset.load(path)
  check.equal(
    tasks.map(({ slug }) => slug),
    (await theirRows(path)).map(row => z.object({ slug: z.string() }).parse(row).slug),
  )
})

test('a whole number that a double does not hold is refused with its line, and not rounded', async () => {
  const path = inTemporary('exact.jsonl')
  for (const [digits, isHeld] of [
    ['9007199254740991', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['-9007199254740993', false],
    ['1152921504606846976', false],
    ['123456789012345678901234567890', false],
  ] as const) {
    await hud.ask(z.null(), 'write_rows', { rows: [{ env: 'e', id: 'plain' }], path })
    const row = `{"env": "e", "id": "t", "args": {"text": "\\"9007199254740993", "n": [${digits}]}}\n`
    writeFileSync(path, readFileSync(path, 'utf8') + row)
    if (isHeld) {
      const { tasks } = await Taskset.load(path)
      check.equal(
        [tasks[1]?.slug],
        await slugs([`{"text": "\\"9007199254740993", "n": [${digits}]}`]).then(([slug]) => [slug]),
      )
    } else {
      const error = await failure(Taskset.load(path))
      check.is(error.tag, 'inexact-number')
      check.match(error.message, new RegExp(`exact\\.jsonl:2: .*${digits}`))
    }
  }
})

test.run()
