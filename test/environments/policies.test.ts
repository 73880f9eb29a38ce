import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readPolicyFile } from '../../src/policy/policy-file.ts'
import { learnTokenizer, makeTokenizer } from '../../src/policy/tokenizer.ts'
import type { DemonstrationSource } from '../../src/policy/warm-up/demonstrations.ts'
import { warmUp } from '../../src/policy/warm-up/warm-up.ts'
import { makeRandom } from '../../src/random.ts'
import { loadSource } from '../support/environment-sources.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('the base policies of the environments')

type Module = { readonly default: DemonstrationSource }
const sources = {
  calc: (await loadSource<Module>('calc/demonstrations.ts')).default,
  arith: (await loadSource<Module>('arith/demonstrations.ts')).default,
}
const fileOf = (name: string) => join(repository, 'environments', name, 'policy.base')

for (const [name, source] of Object.entries(sources)) {
  test(`${name}: the shipped file is what its demonstrations make, with their settings, in under a megabyte`, async () => {
    const file = await readPolicyFile(fileOf(name))
    const { settings } = source
    assert.equal(Object(file.made).settings, settings)
    const tokenizer = makeTokenizer(learnTokenizer(source.corpus(), settings.merges))
    assert.is(makeTokenizer(file.tokenizer).fingerprint, tokenizer.fingerprint)
    const { vocabulary, ...shape } = file.shape
    assert.is(vocabulary, tokenizer.vocabulary)
    assert.equal(shape, {
      width: settings.width,
      heads: settings.heads,
      layers: settings.layers,
      context: settings.context,
    })
    assert.ok((await readFile(fileOf(name))).length < 1_000_000)
  })

  const warmedUp = async (steps: number) => {
    const losses: number[] = []
    const small = { ...source, settings: { ...source.settings, steps, batch: 4, width: 32 } }
    const { weights } = await warmUp(small, { onStep: ({ loss }) => losses.push(loss) })
    return { losses, weights }
  }

  test(`${name}: warmed up at a small scale it learns`, async () => {
    const { losses } = await warmedUp(30)
    const [start = 0, end = 0] = [losses[0], losses.at(-1)]
    assert.ok(end < 0.6 * start, `${start} to ${end}`)
  })

  test(`${name}: warmed up twice it is the same`, async () => {
    const [first, again] = [await warmedUp(10), await warmedUp(10)]
    assert.equal(hash(again.weights), hash(first.weights))
  })
}

test('calc: no demonstration has the bugs of a held-out variant, or one of the unseen bugs', async () => {
  const { functions } = await loadSource<typeof import('../../environments/calc/functions.ts')>('calc/functions.ts')
  const { brokenIn, FIRST_HELD_OUT, VARIANTS } =
    await loadSource<typeof import('../../environments/calc/variants.ts')>('calc/variants.ts')
  const heldOut = new Set<string>()
  for (let variant = FIRST_HELD_OUT; variant < VARIANTS; variant += 1) heldOut.add(brokenIn(variant).sort().join())
  const random = makeRandom(5)
  const seen = new Set<string>()
  for (let draw = 0; draw < 1_000; draw += 1) {
    const text = sources.calc
      .draw(random)
      .flatMap(({ context }) => context.map(({ content }) => content))
      .join('\n')
    const whole = functions.every(({ name }) => text.includes(`def ${name}(`))
    const broken = functions.filter(each => text.includes(`${each.head}${each.buggy}\n`)).map(({ name }) => name)
    if (whole) assert.not.ok(heldOut.has([...broken].sort().join()), broken.join())
    for (const { name, head, unseen } of functions) assert.not.ok(text.includes(`${head}${unseen}\n`), name)
    seen.add(broken.join())
  }
  assert.ok(seen.size > 150, 'most of the sets of broken functions are drawn')
})

function hash(weights: Readonly<Record<string, { readonly values: Float32Array }>>): readonly string[] {
  return Object.entries(weights).map(
    ([name, { values }]) =>
      `${name} ${Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex')}`,
  )
}

test.run()
