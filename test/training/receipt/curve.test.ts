import { XMLParser, XMLValidator } from 'fast-xml-parser'
import * as assert from 'uvu/assert'
import { drawCurve } from '../../../src/training/receipt/curve.ts'
import { toCurves } from '../../../src/training/receipt/curves.ts'
import { wilsonInterval } from '../../../src/training/receipt/interval.ts'
import { makeReceipt } from '../../../src/training/receipt/receipt.ts'
import { suite } from '../../support/suite.ts'
import { evaluationRecord, HEAD, stepRecord } from './records.ts'

const test = suite('training curve')

const records = {
  steps: [stepRecord(0), stepRecord(1, { passRate: 0.8 })],
  evaluations: [
    evaluationRecord(0, 'held-out', 184),
    evaluationRecord(2, 'held-out', 471),
    evaluationRecord(0, 'unseen', 40, 256),
    evaluationRecord(2, 'unseen', 60, 256),
  ],
}
const receipt = makeReceipt(HEAD, records)

test('the curve is XML with a size and a background of its own', () => {
  const svg = drawCurve(receipt)
  assert.is(XMLValidator.validate(svg), true)
  const { svg: root } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(svg)
  assert.is(root.xmlns, 'http://www.w3.org/2000/svg')
  assert.is(root.rect.fill, '#ffffff')
  assert.equal([root.rect.width, root.rect.height], [root.width, root.height])
})

test('the same receipt gives the same bytes, however many were drawn before', () => {
  const first = drawCurve(receipt)
  drawCurve(makeReceipt(HEAD, { ...records, steps: [] }))
  assert.is(drawCurve(receipt), first)
})

test('it says what was measured: model, seed, units, rates at both ends, and which line is whose', () => {
  const svg = drawCurve(makeReceipt({ ...HEAD, model: 'a <b> & "c"' }, records))
  assert.is(XMLValidator.validate(svg), true)
  for (const text of [
    'a &lt;b&gt; &amp; ',
    'seed 7',
    'training steps taken',
    'pass rate',
    '100 %',
    '35.9 %',
    '92.0 %',
    '>train<',
    '>held-out<',
    '>unseen<',
    '>train, published<',
    '>held-out, published<',
  ])
    assert.ok(svg.includes(text), text)
})

test('the published run lies under its own tasks alone', () => {
  const svg = drawCurve(makeReceipt({ ...HEAD, name: 'arith' }, records))
  assert.not.match(svg, 'published')
})

test('before anything was measured there is a curve to look at, too', () => {
  assert.is(XMLValidator.validate(drawCurve(makeReceipt(HEAD, { steps: [], evaluations: [] }))), true)
})

test('each rate stands behind the steps that came before it, and the axis reaches the last', () => {
  const steps = [stepRecord(0, { passRate: 0.1 }), stepRecord(1, { passRate: 0.2 })]
  const curves = toCurves(makeReceipt(HEAD, { steps, evaluations: [evaluationRecord(0, 'held-out', 1, 2)] }))
  assert.equal(
    curves.train.map(({ at, rate }) => [at, rate]),
    [
      [0, 0.1],
      [1, 0.2],
    ],
  )
  assert.is(curves.lastStep, 2)
})

test('intervals are those of Wilson, within 0 and 1', () => {
  const near = (value: number, wanted: number) => assert.ok(Math.abs(value - wanted) < 5e-4, `${value} for ${wanted}`)
  // Newcombe 1998, Statistics in Medicine 17, table I: 81/263, 15/148, 0/20, 1/29.
  for (const [passed, runs, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    near(wilsonInterval(passed, runs)[0], low)
    near(wilsonInterval(passed, runs)[1], high)
  }
  assert.equal(wilsonInterval(0, 0), [0, 1])
  assert.is(wilsonInterval(20, 20)[1], 1)
})

test.run()
