import * as assert from 'uvu/assert'
import { placeNames } from '../../../src/ladder/page/name-places.ts'
import { toSecondsAxis } from '../../../src/ladder/page/seconds-axis.ts'
import { escapeText, toFigure, toLabel, toMilliseconds, toSeconds, toSooner } from '../../../src/ladder/page/words.ts'
import { suite } from '../../support/suite.ts'

const test = suite('ladder: words of the page')

test('figures have three digits that matter, and no exponent', () => {
  for (const [value, says] of [
    [0, '0'],
    [0.012, '0.0120'],
    [2.4, '2.40'],
    [47.94, '47.9'],
    [1_935.2, '1,935'],
    [8, '8'],
    [1e-9, '0.00000'],
    [undefined, '–'],
    [Number.NaN, '–'],
  ] as const)
    assert.is(toFigure(value), says)
  assert.equal([toSeconds(9.42), toSeconds(0.261), toSeconds(0.0041)], ['9.4 s', '0.26 s', '4.1 ms'])
  assert.equal([toMilliseconds(41.25), toMilliseconds(1_200), toMilliseconds(0)], ['41.3 ms', '1.2 s', '0'])
})

test('how much sooner is said in times, and nothing is made of 5 %', () => {
  assert.equal(
    [toSooner(0.26, 9.4), toSooner(2, 1), toSooner(1, 1.04), toSooner(1, 0.96)],
    ['36 times sooner', '2 times slower', 'the same within 5 %', 'the same within 5 %'],
  )
  assert.match(toSooner(0, 1), / sooner$/)
})

test('text is escaped, and labels are one short line', () => {
  assert.is(escapeText(`<a href="b">'&'</a>\0`), '&lt;a href=&quot;b&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\uFFFD')
  assert.is(toLabel(' a\n\tb '), 'a b')
  assert.is(toLabel('x'.repeat(99)).length, 40)
})

test('names at the ends of lines stand clear of each other, in the order of the lines', () => {
  const ends = [9.9, 9.1, 9, 7.2, 0.28]
  const axis = toSecondsAxis(ends)
  const height = 400
  const named = ends.map(seconds => ({ points: [{ n: 256, seconds }] }))
  const at = placeNames(named, axis, height).map(
    ({ down }, index) => down + ((axis.max - Math.log10(ends[index] ?? 1)) / (axis.max - axis.min)) * height,
  )
  for (const [index, place] of at.entries()) {
    const next = at[index + 1]
    if (next !== undefined) assert.ok(next - place > 18, `${at}`)
  }
})

test('names of lines that end early together stand clear of each other too', () => {
  const line = (...points: (readonly [number, number])[]) => ({
    points: points.map(([n, seconds]) => ({ n, seconds })),
  })
  const lines = [line([8, 3], [256, 9]), line([8, 2]), line([8, 1.9]), line([8, 1.8])]
  const [, one, two, three] = placeNames(lines, toSecondsAxis([1.8, 9]), 400).map(({ down }) => down)
  assert.ok((one ?? 0) < (two ?? 0) && (two ?? 0) < (three ?? 0))
})

test('the name of a line that ends early stands where the lines leave room', () => {
  const long = { points: [8, 256].map(n => ({ n, seconds: n / 32 })) }
  const place = (seconds: number) =>
    placeNames([long, { points: [{ n: 8, seconds }] }], toSecondsAxis([0.1, 8]), 400)[1]
  assert.is(place(3)?.side, 'left')
  assert.ok((place(3)?.down ?? 0) < 0)
  assert.is(place(0.1)?.side, 'right')
  assert.ok((place(0.1)?.down ?? 0) > 0)
})

test.run()
