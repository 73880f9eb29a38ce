import * as assert from 'uvu/assert'
import { BENCHES } from '../../bench/catalog.ts'
import { DEFAULT_RECEIPT, formatHelp, parseBenchArguments } from '../../bench/options.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench options')

async function parse(...argv: string[]) {
  const plan = await parseBenchArguments(argv)
  if (plan === 'help') throw new Error('help was not asked for')
  return { ...plan, names: plan.entries.map(({ entry }) => entry.name) }
}

test('without a name the set is run, ladder and peers narrow', async () => {
  const { names, entries, out } = await parse()
  for (const name of ['kernel', 'codec', 'wire', 'batcher', 'journal', 'pool', 'engine', 'rollouts', 'ladder'])
    assert.ok(names.includes(name), name)
  assert.is(out, DEFAULT_RECEIPT)
  assert.is(entries.find(({ entry }) => entry.name === 'peers')?.given.parts, 'kernel,plain')
})

test('--quick reaches every benchmark of its set', async () => {
  const { entries, quick } = await parse('--quick')
  assert.is(quick, true)
  assert.ok(entries.every(({ given }) => given.quick))
  assert.ok(entries.some(({ entry }) => entry.name === 'ladder'))
})

test('named benchmarks are run in the order of their names, each once and in full', async () => {
  const { names, entries } = await parse('pool', 'peers', 'pool')
  assert.equal(names, ['pool', 'peers'])
  assert.is(entries[1]?.given.parts, undefined)
})

test('what is said of a ladder holds over what the set would give it', async () => {
  const { entries } = await parse('--quick', '--levels', '4')
  assert.is(entries.find(({ entry }) => entry.name === 'ladder')?.given.levels, '4')
})

test('a ladder alone writes its own receipt, beside others there is one of all', async () => {
  const alone = await parse('ladder', '--out', 'there.csv')
  assert.equal([alone.out, alone.entries[0]?.given.out], [undefined, 'there.csv'])
  const beside = await parse('ladder', 'pool', '--out', 'there.csv')
  assert.equal([beside.out, beside.entries[0]?.given.out], ['there.csv', undefined])
})

for (const [argv, says] of [
  [['nonsense'], /no benchmark is called nonsense; there are kernel, codec, .*ladder, peers/],
  [['kernel', '--fast'], /--fast.*there are --quick/],
  [['kernel', '--out'], /--out/],
  [['kernel', '--levels', '8'], /--levels is for ladder and peers/],
  [['ladder', '--parts', 'kernel'], /--parts is for peers and cluster,/],
  [['ladder', '--levels', 'wide'], /--levels wide/],
  [['peers', '--parts', 'tea'], /--parts tea/],
  [['cluster', '--parts', 'kernel'], /--parts kernel: it may be overhead, scale, faults/],
] as const)
  test(`${argv.join(' ')} is refused before anything begins`, async () => {
    await assertRejects(parseBenchArguments(argv), 'bench-option', says)
  })

test('help names every benchmark with a line of its own', () => {
  const lines = formatHelp().split('\n')
  for (const { name, summary } of BENCHES) assert.ok(lines.some(line => line.includes(name) && line.endsWith(summary)))
})

test.run()
