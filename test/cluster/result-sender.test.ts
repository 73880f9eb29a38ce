import type { JetStreamClient } from '@nats-io/jetstream'
import * as assert from 'uvu/assert'
import { sizeOf } from '../../src/cluster/codec.ts'
import { makePublisher } from '../../src/cluster/publish.ts'
import { MOST_TOGETHER, MOST_UNDER_WAY, makeResultSender } from '../../src/cluster/result-sender.ts'
import { parseResults, type ResultMessage, toPart } from '../../src/cluster/wire.ts'
import { toRunId } from '../../src/ids.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('sending results')

const BYTES = 1_000

/** The run of that number, whose trajectory is of its digits. */
function makeRun(at: number): ResultMessage {
  const header = makeHeader({ runId: toRunId(`run-${at}`), bytes: BYTES })
  return { type: 'run', header, trajectory: new Uint8Array(BYTES).fill(at), object: undefined }
}

const SIZE = sizeOf(toPart(makeRun(10)))

/** A stream that answers when it is told to. */
function makeStream(mostBytes: number) {
  const clock = new VirtualClock()
  const over = new AbortController()
  const kept: { readonly id: string; readonly runs: readonly number[] }[] = []
  const tries: string[] = []
  const answers: ((problem?: Error) => void)[] = []
  const publish = async (subject: string, payload: Uint8Array, { msgID }: { readonly msgID: string }) => {
    tries.push(msgID)
    await new Promise<void>((resolve, reject) =>
      answers.push(problem => (problem === undefined ? resolve() : reject(problem))),
    )
    kept.push({ id: msgID, runs: parseResults(subject, payload).map(toNumber) })
  }
  const client = { publish } as unknown as JetStreamClient
  const publisher = makePublisher({ client, clock, signal: over.signal, onTrouble: () => {} })
  const sender = makeResultSender(publisher, 'results', mostBytes, 'life')
  return {
    clock,
    over,
    kept,
    tries,
    put: (at: number) => sender.put(makeRun(at), `run-${at}.1`),
    sender,
    async answer(problem?: Error) {
      for (const each of answers.splice(0)) each(problem)
      await settle()
    },
  }
}

/** Of a run that came whole. */
function toNumber(result: ResultMessage): number {
  assert.ok(result.type === 'run' && result.trajectory !== undefined)
  const at = Number(result.header.runId.slice('run-'.length))
  assert.equal(result.trajectory, new Uint8Array(BYTES).fill(at))
  return at
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

test('one alone goes at once, as itself', async () => {
  const { put, tries, kept, answer } = makeStream(1e6)
  const done = put(7)
  assert.equal(tries, ['run-7.1'])
  await answer()
  await done
  assert.equal(kept, [{ id: 'run-7.1', runs: [7] }])
})

test('what ends while messages are under way goes together, in its order', async () => {
  const { put, kept, answer } = makeStream(1e6)
  const all = Promise.all(numbers(0, MOST_UNDER_WAY + 10).map(put))
  await answer()
  await answer()
  await all
  const alone = numbers(0, MOST_UNDER_WAY).map(at => ({ id: `run-${at}.1`, runs: [at] }))
  const rest = numbers(MOST_UNDER_WAY, MOST_UNDER_WAY + 10)
  assert.equal(kept, [...alone, { id: `run-${MOST_UNDER_WAY}.1+life.${MOST_UNDER_WAY + 1}`, runs: rest }])
})

test('a message of several is as long as it may be, and has no more than so many', async () => {
  const { put, kept, answer } = makeStream(3 * SIZE)
  const count = MOST_UNDER_WAY + 8
  const all = Promise.all(numbers(0, count).map(put))
  await answer()
  await answer()
  await all
  assert.equal(
    kept.slice(MOST_UNDER_WAY).map(({ runs }) => runs.length),
    [3, 3, 2],
  )
  assert.equal(
    kept.flatMap(({ runs }) => runs),
    numbers(0, count),
  )
  const many = makeStream(1e9)
  const lots = Promise.all(numbers(0, MOST_UNDER_WAY + MOST_TOGETHER + 1).map(many.put))
  await many.answer()
  await many.answer()
  await lots
  assert.equal(
    many.kept.slice(MOST_UNDER_WAY).map(({ runs }) => runs.length),
    [MOST_TOGETHER, 1],
  )
})

test('one that is longer than a message of several may be goes alone', async () => {
  const { put, kept, answer } = makeStream(SIZE - 1)
  const all = Promise.all(numbers(0, MOST_UNDER_WAY + 2).map(put))
  await answer()
  await answer()
  await all
  assert.ok(kept.every(({ runs }) => runs.length === 1))
})

test('what was refused is sent again with the same content and the same id', async () => {
  const { put, tries, kept, answer, clock } = makeStream(1e6)
  const all = Promise.all(numbers(0, MOST_UNDER_WAY + 3).map(put))
  await answer()
  await answer(new Error('maximum bytes exceeded'))
  const late = put(99)
  await answer()
  await clock.advance(3_000)
  await answer()
  await Promise.all([all, late])
  const id = `run-${MOST_UNDER_WAY}.1+life.${MOST_UNDER_WAY + 1}`
  assert.is(tries.filter(each => each === id).length, 2)
  assert.equal(kept.find(each => each.id === id)?.runs, numbers(MOST_UNDER_WAY, MOST_UNDER_WAY + 3))
})

test('two messages of several have two ids, also when they begin with the same run', async () => {
  const { put, tries, answer } = makeStream(1e6)
  for (let round = 0; round < 2; round += 1) {
    const all = Promise.all(numbers(0, MOST_UNDER_WAY + 2).map(put))
    await answer()
    await answer()
    await all
  }
  const several = tries.filter(id => id.includes('+'))
  assert.is(several.length, 2)
  assert.is(new Set(several).size, 2)
})

test('none waits any more once the trying ends', async () => {
  const { put, over, answer, clock, kept } = makeStream(1e6)
  const all = Promise.allSettled(numbers(0, 3 * MOST_UNDER_WAY).map(put))
  over.abort(new Error('over'))
  await answer(new Error('no answer'))
  await clock.advance(3_000)
  assert.ok((await all).every(end => end.status === 'rejected'))
  assert.equal(kept, [])
})

test('one whose bytes were given away is refused alone', async () => {
  const { put, sender, kept, answer } = makeStream(1e6)
  const before = numbers(0, MOST_UNDER_WAY).map(put)
  const given = makeRun(50)
  const refused = sender.put(given, 'run-50.1').catch((error: unknown) => error)
  const after = put(51)
  assert.ok(given.type === 'run' && given.trajectory !== undefined)
  structuredClone(given.trajectory, { transfer: [given.trajectory.buffer as ArrayBuffer] })
  await answer()
  await answer()
  await Promise.all([...before, after])
  assert.ok((await refused) instanceof TypeError)
  assert.equal(kept.at(-1), { id: 'run-51.1', runs: [51] })
})

test.run()
