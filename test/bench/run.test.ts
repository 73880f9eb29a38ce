import * as assert from 'uvu/assert'
import { GRACE_MS, type Runnable, runBenches } from '../../bench/run.ts'
import type { BenchTable, TablePart } from '../../bench/table.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('bench run')

const table = (value: number): BenchTable => ({ title: 'a table', rows: [{ name: 'figure', value, unit: 'things' }] })
const good = (name: string): Runnable => ({ name, run: async () => table(1) })

function makeScene() {
  const clock = new VirtualClock()
  const interrupt = new AbortController()
  const told: string[] = []
  const kept: string[][] = []
  const ports = {
    signal: interrupt.signal,
    clock,
    say: (line: string) => void told.push(line),
    onEnd: async (parts: readonly TablePart[]) => void kept.push(parts.map(({ bench }) => bench)),
  }
  return { clock, interrupt, told, kept, ports }
}

test('a benchmark that throws is told of and marked, and the others still run', async () => {
  const { ports, told, kept } = makeScene()
  const bad: Runnable = { name: 'bad', run: () => Promise.reject(new Error('no disk\nat the line below')) }
  const parts = await runBenches([good('first'), bad, good('last')], ports)
  assert.equal(
    parts.map(({ bench, incomplete }) => [bench, incomplete]),
    [
      ['first', undefined],
      ['bad', 'failed: no disk'],
      ['last', undefined],
    ],
  )
  assert.equal(parts[1]?.rows, [])
  assert.ok(told.some(line => line.startsWith('bad: failed: no disk')))
  assert.equal(kept, [['first'], ['first', 'bad'], ['first', 'bad', 'last']])
})

test('one that throws before it returns a promise is no different', async () => {
  const { ports } = makeScene()
  const bad: Runnable = {
    name: 'bad',
    run() {
      throw new Error('at once')
    },
  }
  const [part] = await runBenches([bad], ports)
  assert.is(part?.incomplete, 'failed: at once')
})

test('after Ctrl-C none begins, and the one under way keeps what it had measured', async () => {
  const { ports, interrupt } = makeScene()
  const slow: Runnable = {
    name: 'slow',
    run: signal =>
      new Promise(resolve => {
        signal.addEventListener('abort', () =>
          resolve({ title: 'half', rows: [...table(1).rows, ...table(Number.NaN).rows] }),
        )
        interrupt.abort()
      }),
  }
  const parts = await runBenches([good('first'), slow, good('never')], ports)
  assert.equal(
    parts.map(({ bench, incomplete }) => [bench, incomplete]),
    [
      ['first', undefined],
      ['slow', 'interrupted'],
    ],
  )
  assert.equal(parts[1]?.rows, table(1).rows)
})

test('one that does not end after Ctrl-C is left behind when its time is over', async () => {
  const { ports, interrupt, clock } = makeScene()
  let begun = () => {}
  const beginning = new Promise<void>(resolve => {
    begun = resolve
  })
  const deaf: Runnable = {
    name: 'deaf',
    run() {
      begun()
      return new Promise(() => {})
    },
  }
  const running = runBenches([deaf, good('never')], ports)
  await beginning
  interrupt.abort()
  await new Promise(resolve => setImmediate(resolve))
  await clock.advance(GRACE_MS)
  const parts = await running
  assert.equal(
    parts.map(({ bench, incomplete }) => [bench, incomplete]),
    [['deaf', 'interrupted']],
  )
})

test('what a benchmark itself says is missing stays', async () => {
  const { ports } = makeScene()
  const honest: Runnable = { name: 'honest', run: async () => ({ ...table(1), incomplete: 'no docker here' }) }
  const [part] = await runBenches([honest], ports)
  assert.is(part?.incomplete, 'no docker here')
})

test.run()
