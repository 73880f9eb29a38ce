import * as assert from 'uvu/assert'
import { parseJunitReport } from '../../../src/environment/graders/junit-report.ts'
import { suite } from '../../support/suite.ts'

const test = suite('junit report')

test('tests, what became of them, and messages as they were before they were XML', () => {
  const tests = parseJunitReport(
    `<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="3">
      <testcase classname="t" name="test_a" time="0.1" />
      <testcase classname="t" name="test_b" time="0.1"><failure message="assert 3 == 4&#10;  a &lt; b &amp; c">trace</failure></testcase>
      <testcase classname="t" name="test_c" time="0.1"><skipped message="later" /></testcase>
    </testsuite></testsuites>`,
  )
  assert.equal(tests, [
    { name: 'test_a', passed: true, message: '' },
    { name: 'test_b', passed: false, message: 'assert 3 == 4\n  a < b & c' },
    { name: 'test_c', passed: false, message: 'later' },
  ])
})

test('what is no such report is none', () => {
  for (const text of [
    '',
    'no xml',
    '<html></html>',
    '<testsuites><testsuite><testcase></testcase></testsuite></testsuites>',
  ])
    assert.is(parseJunitReport(text), undefined, text)
})

test.run()
