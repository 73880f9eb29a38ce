import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ErrorData, hasTag } from '../../src/errors.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../../src/kernel/system.ts'
import { startThreads, type ThreadOptions, type ThreadPool } from '../../src/threads/pool.ts'
import { suite } from '../support/suite.ts'
import type { Add, Break, CalculatorMessage, Echo, Ignore, ShardData } from './fixtures/calculator-shard.ts'

const test = suite('threads')

type Up = { readonly node: string; readonly root: Ref<CalculatorMessage> }

class Fixture {
  readonly system: ActorSystem
  readonly pool: ThreadPool
  readonly ups: Up[] = []
  readonly downs: { readonly node: string; readonly error: ErrorData }[] = []
  private readonly changed = new Set<() => void>()

  constructor(data: ShardData = {}, options: Partial<ThreadOptions> = {}) {
    this.system = makeSystem({ node: 'main' })
    this.pool = startThreads({
      threads: 1,
      entry: new URL('./fixtures/calculator-shard.js', import.meta.url),
      data,
      system: this.system,
      onUp: ({ node, root }) => {
        this.ups.push({ node, root: this.system.ref(root.address) })
        this.notify()
      },
      onDown: (node, error) => {
        this.downs.push({ node, error })
        this.notify()
      },
      ...options,
    })
  }

  async up(count: number): Promise<Up> {
    while (this.ups.length < count) await this.change()
    return nth(this.ups, count)
  }

  async down(count: number): Promise<{ readonly node: string; readonly error: ErrorData }> {
    while (this.downs.length < count) await this.change()
    return nth(this.downs, count)
  }

  async close(deadlineMs = 5_000): Promise<void> {
    await this.pool.close(deadlineMs)
    await this.system.stop()
  }

  private change(): Promise<void> {
    return new Promise(resolve => this.changed.add(resolve))
  }

  private notify(): void {
    for (const resolve of this.changed) resolve()
    this.changed.clear()
  }
}

function nth<Item>(items: readonly Item[], count: number): Item {
  const item = items[count - 1]
  if (item === undefined) throw new Error(`there are fewer than ${count}`)
  return item
}

const add: Add = { type: 'add', left: 2, right: 3 }
const breakBy = (how: Break['how']): Break => ({ type: 'break', how })
const ignore: Ignore = { type: 'ignore' }

test('a question crosses to a thread and its answer comes back', async () => {
  const fixture = new Fixture({}, { threads: 2 })
  await fixture.pool.started
  assert.is(fixture.ups.length, 2)
  for (const { root } of fixture.ups) assert.is(await fixture.system.ask(root, add, 5_000), 5)
  await fixture.close()
})

test('an actor of a thread tells a ref it was sent, and the ref of that actor works here', async () => {
  const fixture = new Fixture()
  const { root } = await fixture.up(1)
  const heard = await new Promise<{ from: Ref<CalculatorMessage>; value: unknown }>(resolve => {
    const listener = fixture.system.spawn<undefined, { from: Ref<CalculatorMessage>; value: unknown }>({
      name: 'listener',
      initial: () => undefined,
      receive(state, message) {
        resolve(message)
        return state
      },
    })
    root.tell({ type: 'report', to: listener as Ref<unknown>, value: 'hello' })
  })
  assert.is(heard.value, 'hello')
  assert.is(heard.from.address, root.address)
  assert.is(await fixture.system.ask(heard.from, add, 5_000), 5)
  await fixture.close()
})

test('a ref to an actor of one thread works in another, by way of this one', async () => {
  const fixture = new Fixture({}, { threads: 2 })
  await fixture.pool.started
  const [first, second] = fixture.ups
  if (first === undefined || second === undefined) return assert.unreachable()
  const ask: Echo = { type: 'echo', value: second.root }
  const echoed = (await fixture.system.ask(first.root, ask, 5_000)) as Ref<CalculatorMessage>
  assert.is(await fixture.system.ask(echoed, add, 5_000), 5)
  const value = await new Promise(resolve => {
    const listener = fixture.system.spawn<undefined, unknown>({
      name: 'listener',
      initial: () => undefined,
      receive(state, message) {
        resolve((message as { value: unknown }).value)
        return state
      },
    })
    first.root.tell({ type: 'report', to: second.root as Ref<unknown>, value: 'unknown to the calculator' })
    second.root.tell({ type: 'report', to: listener, value: 'second' })
  })
  assert.is(value, 'second')
  await fixture.close()
})

test('a large binary is handed over: its buffer is gone here and whole there', async () => {
  const fixture = new Fixture()
  const { root } = await fixture.up(1)
  const tokens = new Uint32Array(4_096).fill(7)
  const small = new Float32Array([1, 2, 3])
  const question: Echo = { type: 'echo', value: { tokens, small, same: undefined } }
  const answer = (await fixture.system.ask(root, question, 5_000)) as { tokens: Uint32Array; small: Float32Array }
  assert.is(tokens.byteLength, 0)
  assert.is(small.byteLength, 12)
  assert.equal(answer.tokens, new Uint32Array(4_096).fill(7))
  assert.equal(answer.small, new Float32Array([1, 2, 3]))
  assert.ok('same' in answer)
  await fixture.close()
})

for (const how of ['exit', 'throw', 'reject', 'stop'] as const)
  test(`a thread that ends by ${how} fails its questions and is replaced under a new name`, async () => {
    const fixture = new Fixture()
    const { node, root } = await fixture.up(1)
    const terminated = fixture.system.terminated(root)
    const open = fixture.system.ask(root, ignore, 20_000).catch(error => error)
    root.tell(breakBy(how))
    const down = await fixture.down(1)
    assert.is(down.node, node)
    assert.is(down.error.tag, 'thread-lost')
    assert.ok(down.error.cause)
    assert.ok(hasTag(await open, 'link-down'), String(await open))
    assert.is((await terminated).type, how === 'stop' ? 'stopped' : 'link-down')
    const fresh = await fixture.up(2)
    assert.is.not(fresh.node, node)
    assert.is(await fixture.system.ask(fresh.root, add, 5_000), 5)
    assert.is(root.tell(add), false)
    await fixture.close()
  })

test('a thread that runs out of memory takes nothing with it', async () => {
  const fixture = new Fixture({}, { threads: 2, resourceLimits: { maxOldGenerationSizeMb: 24 } })
  await fixture.pool.started
  const [first, second] = fixture.ups
  if (first === undefined || second === undefined) return assert.unreachable()
  first.root.tell(breakBy('memory'))
  const down = await fixture.down(1)
  assert.is(down.node, first.node)
  assert.is(down.error.cause?.tag, 'err-worker-out-of-memory')
  assert.is(await fixture.system.ask(second.root, add, 5_000), 5)
  await fixture.close()
})

test('a thread that hangs is destroyed and replaced', async () => {
  const fixture = new Fixture({}, { pulseMs: 20, hangMs: 400 })
  const { root } = await fixture.up(1)
  root.tell(breakBy('loop'))
  assert.is((await fixture.down(1)).error.tag, 'thread-hung')
  const fresh = await fixture.up(2)
  assert.is(await fixture.system.ask(fresh.root, add, 5_000), 5)
  await fixture.close()
})

test('close stops the shards in order and ends every thread', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-threads-'))
  const stopLog = join(directory, 'stopped')
  const fixture = new Fixture({ stopLog }, { threads: 2 })
  await fixture.pool.started
  await fixture.close()
  const stopped = readFileSync(stopLog, 'utf8').trim().split('\n').sort()
  assert.equal(stopped, fixture.ups.map(({ node }) => node).sort())
  assert.is(fixture.downs.length, 0)
  rmSync(directory, { recursive: true })
})

test('close ends a thread whose shard does not stop', async () => {
  const fixture = new Fixture({ blockStop: true })
  await fixture.up(1)
  await fixture.close(200)
})

test('close ends a thread that is still starting', async () => {
  const fixture = new Fixture()
  await fixture.close()
  assert.is(fixture.downs.length, 0)
})

test('threads that keep failing are given up, and say so', async () => {
  const fixture = new Fixture({ failToStart: true }, { restart: { intensity: 2, periodMs: 60_000 } })
  const failure = await fixture.pool.started.then(
    () => undefined,
    error => error,
  )
  assert.ok(hasTag(failure, 'threads-failing'), String(failure))
  assert.equal(
    fixture.downs.map(({ error }) => error.tag),
    ['thread-lost', 'thread-lost', 'threads-failing'],
  )
  await fixture.close()
})

test.run()
