import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { hasTag } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('what a runtime started before anything ran')

const environment = join(repository, 'environments/arith/env.ts')
const agent = createAgent({ name: 'one', run: async () => ({ answer: '1', stop: 'done' }) })

test('ends with its job where the tasks are refused', () =>
  withScene(async scene => {
    const bad = new Taskset('bad', [{ env: 'arith', id: 'add', args: { a: 'one' } }])
    const job = await Job.start('refused', { runtime: new LocalRuntime(environment), threads: 0 })
    const refused = await job
      .stream(bad, agent)
      [Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error)
    assert.ok(hasTag(refused, 'bad-tasks'), String(refused))
    assert.is(scene.leftovers().length > 0, true, 'its host was started to be asked')
    await job.close()
    assert.equal(scene.leftovers(), [])
  }))

test('ends with the last of the jobs that use it, and not before', () =>
  withScene(async scene => {
    const good = new Taskset('good', [{ env: 'arith', id: 'add', args: { a: 1, b: 0 } }])
    const runtime = new LocalRuntime(environment)
    const [first, second] = await Promise.all(['first', 'second'].map(name => Job.start(name, { runtime, threads: 0 })))
    assert.ok(first && second)
    for (const job of [first, second])
      for await (const group of job.stream(good, agent)) assert.is(group.runs[0]?.reward, 1)
    await first.close()
    for await (const group of second.stream(good, agent)) assert.is(group.runs[0]?.reward, 1)
    await second.close()
    assert.equal(scene.leftovers(), [])
  }))

test.run()
