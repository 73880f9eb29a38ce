import * as assert from 'uvu/assert'
import { renderReport } from '../../src/report/render.ts'
import { makeReport } from '../../src/report/report.ts'
import { suite } from '../support/suite.ts'
import { makeRun, makeSource } from './scene.ts'

const test = suite('a main loop that is late')

const render = (loopDelayP99Ms: number) => renderReport(makeReport(makeSource([makeRun(1, 0)], { loopDelayP99Ms })))

test('its delay is told in every report, and from 100 ms on what to do about it', () => {
  assert.match(render(12), 'main-loop delay p99 12.0 ms')
  assert.not.match(render(99), 'the main loop is late')
  const late = render(480)
  assert.match(late, 'main-loop delay p99 480 ms')
  assert.match(late, /the main loop is late: .* Lower --max-concurrent/)
  for (const line of late.split('\n')) assert.ok(line.length <= 100, line)
})

test.run()
