import * as assert from 'uvu/assert'
import { z } from 'zod'
import { systemClock } from '../../src/clock.ts'
import { Environment } from '../../src/environment/environment.ts'
import { serveEnvironment } from '../../src/environment/serve-environment.ts'
import type { ServedSession } from '../../src/environment/served.ts'
import type { StructuredAnswer, TaskLife, TemplateBody } from '../../src/environment/template.ts'
import { type ErrorData, hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('the life of a template')

const never = new AbortController().signal

interface Opened {
  readonly session: ServedSession
  readonly problems: ErrorData[]
}

/** A session of an environment with one template, `t`. Authors who write JavaScript can yield anything. */
async function open(
  body: (context: Parameters<TemplateBody<unknown, unknown>>[1]) => AsyncGenerator<unknown, void, unknown>,
): Promise<Opened> {
  const environment = new Environment('env')
  const untyped = async function* (_: unknown, context: Parameters<TemplateBody<unknown, unknown>>[1]) {
    return yield* body(context) as ReturnType<TemplateBody<unknown, unknown>>
  }
  environment.template('t', {}, untyped)
  return await openSession(environment)
}

async function openSession(environment: Environment, teardownMs = 5_000): Promise<Opened> {
  const problems: ErrorData[] = []
  const served = serveEnvironment(environment, undefined, { teardownMs, onError: error => problems.push(error) })
  return { session: await served.openSession('sess-1'), problems }
}

async function fails(promise: Promise<unknown>, tag: string, text?: RegExp): Promise<void> {
  try {
    await promise
  } catch (error) {
    assert.ok(hasTag(error, tag), `expected ${tag}, got ${String(error)}`)
    if (text !== undefined) assert.match(error.message, text)
    return
  }
  assert.unreachable(`expected ${tag}`)
}

test('the first yield is the prompt, the answer comes back, the second yield is the score', async () => {
  const { session } = await open(async function* () {
    const answer = yield 'say yes'
    yield answer === 'yes' ? 1 : 0
  })
  assert.is(session.hasTask, false)
  assert.equal(await session.start('t', {}, never), { prompt: 'say yes' })
  assert.is(session.hasTask, true)
  assert.equal(await session.grade({ answer: 'yes' }, never), { score: 1 })
  assert.is(session.hasTask, false)
  await fails(session.grade({ answer: 'yes' }, never), 'no-task')
})

test('a prompt may be messages, or an object that keeps its other keys', async () => {
  for (const [prompt, frame] of [
    [[{ role: 'user', content: 'hi' }], { prompt: [{ role: 'user', content: 'hi' }] }],
    [
      { prompt: 'hi', system: 'be kind' },
      { prompt: 'hi', system: 'be kind' },
    ],
  ]) {
    const { session } = await open(async function* () {
      yield prompt
    })
    assert.equal(await session.start('t', {}, never), frame)
    await session.close()
  }
})

test('what is no prompt is an error of the author', async () => {
  for (const prompt of [1, null, undefined, true, {}, { prompt: 3 }, ['hi']]) {
    const { session } = await open(async function* () {
      yield prompt
    })
    await fails(session.start('t', {}, never), 'bad-prompt', /first yield is the prompt/)
    assert.is(session.hasTask, false)
  }
  const { session } = await open(async function* () {})
  await fails(session.start('t', {}, never), 'missing-prompt')
})

test('what is no finite score is an error of the author, never 0', async () => {
  const cyclic: Record<string, unknown> = { score: 1 }
  cyclic.info = { cyclic }
  for (const score of [
    ...['1', null, undefined, true, Number.NaN, Number.POSITIVE_INFINITY, [], {}, { score: '1' }, { reward: null }],
    ...[{ score: Number.NaN }, { score: 1, subscores: [{ name: 'a' }] }, { score: 1, isError: 'no' }, cyclic],
  ]) {
    const { session } = await open(async function* () {
      yield 'go'
      yield score
    })
    await session.start('t', {}, never)
    await fails(session.grade({ answer: '' }, never), 'bad-score', /yield a finite number/)
    assert.is(session.hasTask, false, 'a failed grade consumes the task too')
  }
})

test('a grade keeps what stands beside the score, and calls a reward by the name of the wire', async () => {
  const beside = {
    done: true,
    content: 'well',
    info: { n: 1 },
    isError: false,
    extra: [1],
    subscores: [{ name: 'a', value: 1, weight: 1 }],
  }
  for (const yielded of [
    { score: 0.5, ...beside },
    { reward: 0.5, ...beside },
  ]) {
    const { session } = await open(async function* () {
      yield 'go'
      yield yielded
    })
    await session.start('t', {}, never)
    assert.equal(await session.grade({ answer: '' }, never), { score: 0.5, ...beside })
  }
})

test('ending without a second yield scores 0', async () => {
  const { session } = await open(async function* () {
    yield 'go'
  })
  await session.start('t', {}, never)
  assert.is((await session.grade({ answer: '' }, never)).score, 0)
})

test('what a template throws reaches the caller, before and after the prompt', async () => {
  const { session } = await open(async function* () {
    const answer = yield 'go'
    throw new Error(`no ${answer}`)
  })
  await session.start('t', {}, never)
  try {
    await session.grade({ answer: 'luck' }, never)
    assert.unreachable()
  } catch (error) {
    assert.is(String(error), 'Error: no luck')
  }
})

test('finally blocks run after a grade, on cancel, when replaced and at the end of the session', async () => {
  const ended: string[] = []
  const { session } = await open(async function* ({ signal }) {
    try {
      yield 'go'
      yield 1
    } finally {
      ended.push(signal.aborted ? 'aborted' : 'running')
    }
  })
  await session.start('t', {}, never)
  await session.grade({ answer: '' }, never)
  assert.is(ended.length, 1)
  await session.start('t', {}, never)
  await session.cancel()
  assert.is(ended.length, 2)
  assert.is(session.hasTask, false)
  await session.start('t', {}, never)
  await session.start('t', {}, never)
  assert.is(ended.length, 3)
  await session.close()
  await session.close()
  assert.equal(ended, ['aborted', 'aborted', 'aborted', 'aborted'])
})

test('an abort ends a template that is still making its prompt, and the task with it', async () => {
  const controller = new AbortController()
  const { session } = await open(async function* ({ signal }) {
    controller.abort()
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    yield 'late'
  })
  await fails(session.start('t', {}, controller.signal), 'task-cancelled')
  assert.is(session.hasTask, false)
})

test('a cancel from another call ends a template that is still grading', async () => {
  let graded: () => void = () => {}
  const grading = new Promise<void>(resolve => {
    graded = resolve
  })
  const { session } = await open(async function* ({ signal }) {
    yield 'go'
    graded()
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    yield 1
  })
  await session.start('t', {}, never)
  const grade = session.grade({ answer: '' }, never)
  await grading
  await session.close()
  await fails(grade, 'task-cancelled')
})

test('a finally block that never ends is left behind at its deadline, and told of', async () => {
  const environment = new Environment('env')
  environment.template('t', {}, async function* () {
    try {
      yield 'go'
    } finally {
      await new Promise(() => {})
    }
  })
  const { session, problems } = await openSession(environment, 20)
  await session.start('t', {}, never)
  await session.cancel()
  assert.equal(
    problems.map(({ tag }) => tag),
    ['teardown-timeout'],
  )
})

test('a finally block that throws leaves the grade standing, and is told of', async () => {
  const { session, problems } = await open(async function* () {
    try {
      yield 'go'
      yield 1
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: what authors do is what is tested
      throw new Error('the disk is full')
    }
  })
  await session.start('t', {}, never)
  assert.equal(await session.grade({ answer: '' }, never), { score: 1 })
  assert.equal(
    problems.map(({ tag }) => tag),
    ['teardown-failed'],
  )
  assert.match(problems[0]?.message ?? '', /disk is full/)
})

test('an answer with a schema arrives parsed, or raw where it does not fit', async () => {
  const seen: unknown[] = []
  const environment = new Environment('env')
  environment.template('t', { returns: z.object({ n: z.number() }) }, async function* (): TaskLife<
    StructuredAnswer<{ n: number }>
  > {
    const answer = yield 'a number'
    seen.push(answer)
    yield typeof answer.content === 'string' ? 0 : answer.content.n
  })
  const { session } = await openSession(environment)
  for (const answer of ['{"n": 3}', { n: 4 }, 'three']) {
    await session.start('t', {}, never)
    await session.grade({ answer }, never)
  }
  assert.equal(seen, [
    { content: { n: 3 }, raw: '{"n": 3}' },
    { content: { n: 4 }, raw: '{"n":4}' },
    { content: 'three', raw: 'three' },
  ])
})

test('the context knows the session and its clock, and says that there is no workspace', async () => {
  const { session } = await open(async function* ({ sessionId, clock }) {
    yield `${sessionId} ${clock === systemClock}`
  })
  assert.equal(await session.start('t', {}, never), { prompt: 'sess-1 true' })
  const { session: other } = await open(async function* ({ workspace }) {
    yield workspace.directory
  })
  await fails(other.start('t', {}, never), 'no-workspace', /workspace: true/)
})

test.run()
