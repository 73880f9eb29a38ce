import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toCommandLine } from '../../../../src/runtimes/daytona/reach/command-line.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('daytona command line')

test('every value comes through a shell as it is, to every part of the command', () => {
  const value = fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\0'))
  fc.assert(
    fc.property(value, value, (one, two) => {
      const line = toCommandLine('true && printf "%s\\n%s" "$ONE" "$TWO"', { ONE: one, TWO: two })
      const output = execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })
      assert.is(output, `${one}\n${two}`)
    }),
    { numRuns: 30 },
  )
})

test('what is no name of a variable is refused, since a shell would run it', () => {
  for (const name of ['A B', '1A', '', 'A;rm', 'A='])
    assert.throws(() => toCommandLine('true', { [name]: 'x' }), /is no name of a variable/)
  assert.is(toCommandLine('true', {}), 'true')
})

test.run()
