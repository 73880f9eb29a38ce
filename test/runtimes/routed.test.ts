import * as assert from 'uvu/assert'
import { Environment } from '../../src/environment/environment.ts'
import { toSandboxId } from '../../src/ids.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { RoutedRuntime } from '../../src/runtimes/routed.ts'
import { SubprocessRuntime } from '../../src/runtimes/subprocess.ts'
import { makeTokenBucket } from '../../src/runtimes/token-bucket.ts'
import type { Task } from '../../src/taskset/task.ts'
import { InProcessRuntime } from '../../src/testing/index.ts'
import { FakeProviderPool, FakeRuntime } from '../actors/fake-runtime.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { hostProgram, openHostScene } from './fixtures/host-scene.ts'

const test = suite('routed runtime')

const taskOf = (env: string, more: Partial<Task> = {}): Task => ({ env, id: 'echo', args: {}, slug: env, ...more })

async function openScene(withOtherwise: boolean) {
  const scene = await openHostScene()
  const local = new LocalRuntime(scene.environmentPath, { hostProgram })
  const subprocess = new SubprocessRuntime([process.execPath, hostProgram, scene.environmentPath, '--port', '0'])
  const runtime = withOtherwise
    ? new RoutedRuntime({ other: subprocess }, { otherwise: local })
    : new RoutedRuntime({ other: subprocess, fixture: local })
  return {
    runtime,
    ...(withOtherwise ? {} : { task: taskOf('fixture') }),
    leftovers: () => scene.leftovers(),
    end: () => scene.end(),
  }
}

runtimeContract(test, () => openScene(true))
runtimeContract(test, () => openScene(false))

test('each task goes where its route leads, and whoever asks for what no route leads to is told which there are', async () => {
  const [one, two] = [new FakeRuntime(), new FakeRuntime()]
  const runtime = new RoutedRuntime({ one, two })
  await runtime.provision(toRequest('a', { task: taskOf('one') }))
  await runtime.provision(toRequest('b', { task: taskOf('two') }))
  assert.equal([[...one.existing], [...two.existing]], [['a'], ['b']])
  const lost = await failure(runtime.provision(toRequest('c', { task: taskOf('three') })))
  assert.is(lost.tag, 'no-route')
  assert.match(lost.message, /environment "three"; there are routes for one, two/)
  // Names that every object has are no routes.
  assert.is((await failure(runtime.provision(toRequest('d', { task: taskOf('toString') })))).tag, 'no-route')
  assert.is((await failure(runtime.provision(toRequest('e')))).tag, 'no-route')
  await runtime.close()
})

test('what dead owners have left is removed by each of the runtimes that can', async () => {
  const asked: unknown[] = []
  const reaping = (count: number) =>
    Object.assign(new FakeRuntime(), {
      reap: async (owners: readonly string[]) => {
        asked.push(owners)
        return count
      },
    })
  const runtime = new RoutedRuntime({ one: reaping(2), two: reaping(3), three: new FakeRuntime() })
  assert.is(await runtime.reap(['dead']), 5)
  assert.equal(asked, [['dead'], ['dead']])
  await runtime.close()
})

test('a function may decide by anything that a task says', async () => {
  const [small, large] = [new FakeRuntime(), new FakeRuntime()]
  const runtime = new RoutedRuntime(({ args }) => (Number(args.size) > 10 ? large : small))
  await runtime.provision(toRequest('a', { task: taskOf('x', { args: { size: 11 } }) }))
  await runtime.provision(toRequest('b', { task: taskOf('x', { args: { size: 1 } }) }))
  assert.equal([[...large.existing], [...small.existing]], [['a'], ['b']])
  assert.is.not(runtime.kindOf(taskOf('x', { args: { size: 11 } })), runtime.kindOf(taskOf('x')))
  await runtime.close()
})

test('only runtimes that tasks go to are asked whether they could, and of their own tasks', async () => {
  const [one, two] = [new FakeRuntime(), new FakeRuntime()]
  const runtime = new RoutedRuntime({ one, two })
  const task = taskOf('two')
  await runtime.preflight({ sandboxes: 4, providerPool: true, tasks: [task] })
  assert.equal([one.plans, two.plans], [[], [{ sandboxes: 4, providerPool: false, tasks: [task] }]])
  const problems = await runtime.checkTasks([taskOf('three'), task])
  assert.match(problems.join('\n'), /^three: no runtime is routed/)
  await runtime.close()
})

test('what tasks ask of their environments is checked by each of these', async () => {
  const environments = ['one', 'two'].map(name => {
    const environment = new Environment(name)
    environment.template('echo', {}, async function* () {
      yield Number(String(yield 'say 1') === '1')
    })
    return environment
  })
  const [first, second] = environments
  if (first === undefined || second === undefined) throw new Error('two environments are made above')
  const runtime = new RoutedRuntime({ one: new InProcessRuntime(first), two: new InProcessRuntime(second) })
  assert.equal(await runtime.checkTasks([taskOf('one'), taskOf('two')]), [])
  assert.match((await runtime.checkTasks([taskOf('two', { id: 'ech' })])).join(), /two: .*"ech"/)
  await runtime.close()
})

test('sandboxes are made ahead, forked and claimed of the one for everything else alone', async () => {
  const [own, rest] = [new FakeRuntime(), new FakeRuntime()]
  own.forks = true
  own.providerPool = new FakeProviderPool()
  const alone = new RoutedRuntime({ own })
  assert.equal([alone.prewarms, alone.forks, alone.providerPool], [false, undefined, undefined])
  rest.forks = true
  rest.providerPool = new FakeProviderPool()
  const runtime = new RoutedRuntime({ own }, { otherwise: rest })
  assert.equal([runtime.prewarms, runtime.forks, runtime.providerPool], [true, true, rest.providerPool])
  assert.is(runtime.kindOf(taskOf('anything')), undefined)
  assert.is.not(runtime.kindOf(taskOf('own')), undefined)
  await runtime.close()
})

test('creates keep to the strictest of the accounts’ limits', () => {
  const [one, two] = [new FakeRuntime(), new FakeRuntime()]
  one.creates = makeTokenBucket({ perSecond: 1, burst: 3 })
  two.creates = makeTokenBucket({ perSecond: 1, burst: 1 })
  const { creates } = new RoutedRuntime({ one, two })
  assert.equal([creates?.take(0), creates?.take(0), creates?.nextAt(0)], [true, false, 1_000])
  // What the stricter one refused has cost the other nothing.
  assert.equal([one.creates.take(0), one.creates.take(0), one.creates.take(0)], [true, true, false])
  creates?.pause(5_000)
  assert.is(one.creates.nextAt(0), 5_000)
  assert.is(new RoutedRuntime({ own: new FakeRuntime() }).creates, undefined)
})

test('a row’s runtime_config is for its own runtime to say something about', () => {
  const able = Object.assign(new FakeRuntime(), {
    configure: (task: Task) => ({ config: task.runtime_config ?? {}, problems: ['no such image'] }),
    kindOf: () => 'with an image',
  })
  const runtime = new RoutedRuntime({ able, unable: new FakeRuntime() })
  const config = { image: 'x' }
  assert.equal(runtime.configure(taskOf('able', { runtime_config: config })).problems, ['no such image'])
  const problems = runtime.configure(taskOf('unable', { runtime_config: config })).problems
  assert.match(problems.join(), /runtime_config\.image: the fake runtime makes all its sandboxes alike/)
  assert.match(runtime.kindOf(taskOf('able')) ?? '', /with an image/)
})

test('a sandbox that died is asked after where it was, and nowhere else', async () => {
  const [one, two] = [new FakeRuntime(), new FakeRuntime()]
  one.diagnose = async id => ({ tag: 'sandbox-lost', message: `${id} ran out of memory` })
  const runtime = new RoutedRuntime({ one, two })
  await runtime.provision(toRequest('a', { task: taskOf('one') }))
  await runtime.provision(toRequest('b', { task: taskOf('two') }))
  assert.match((await runtime.diagnose(toSandboxId('a')))?.message ?? '', /out of memory/)
  assert.equal(
    [await runtime.diagnose(toSandboxId('b')), await runtime.diagnose(toSandboxId('c'))],
    [undefined, undefined],
  )
  await runtime.close()
})

test('all are closed, also when one will not', async () => {
  const closed: string[] = []
  const make = (name: string, fails: boolean) =>
    Object.assign(new FakeRuntime(), {
      async close() {
        closed.push(name)
        if (fails) throw new Error(`${name} will not close`)
      },
    })
  const runtime = new RoutedRuntime({ one: make('one', true), two: make('two', false) })
  assert.match(String(await runtime.close().catch((error: unknown) => error)), /one will not close/)
  assert.equal(closed, ['one', 'two'])
})

test.run()
