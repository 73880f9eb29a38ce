import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { type Child, startChild } from '../../../src/ladder/process/child.ts'
import { suite } from '../../support/suite.ts'
import type { AdderCalls } from './fixtures/adder.ts'

const test = suite('ladder processes')

const GRACE_MS = 10_000
const program = fileURLToPath(new URL('./fixtures/adder.js', import.meta.url))

async function withChild(body: (child: Child<AdderCalls>) => Promise<void>): Promise<void> {
  const child = startChild<AdderCalls>(program, { from: 1, stubborn: false })
  try {
    await body(child)
  } finally {
    await child.end(GRACE_MS)
  }
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was expected to fail')
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    return process.kill(pid ?? 0, 0)
  } catch {
    return false
  }
}

test('calls are answered, each with its own answer', () =>
  withChild(async child => {
    const sums = await Promise.all([child.call('add', [1, 2], GRACE_MS), child.call('add', [10], GRACE_MS)])
    assert.equal(sums, [4, 11])
  }))

test('what the child throws arrives with its tag', () =>
  withChild(async child => {
    assert.ok(hasTag(await rejection(child.call('fail', 'some-tag', GRACE_MS)), 'some-tag'))
  }))

test('a child that dies rejects what waits and what comes after', () =>
  withChild(async child => {
    const hanging = rejection(child.call('hang', undefined, GRACE_MS))
    assert.match(String(await rejection(child.call('die', 3, GRACE_MS))), /it ended \(3\)/)
    assert.ok(hasTag(await hanging, 'ladder-process-lost'))
    assert.ok(hasTag(await rejection(child.call('add', [], GRACE_MS)), 'ladder-process-lost'))
  }))

test('an answer that does not come is waited for no longer than said', () =>
  withChild(async child => {
    assert.match(String(await rejection(child.call('hang', undefined, 50))), /no answer to hang within 0.05 s/)
  }))

test('a child ends when it is let go, and is killed when it will not', async () => {
  for (const stubborn of [false, true]) {
    const child = startChild<AdderCalls>(program, { from: 0, stubborn })
    await child.call('add', [], GRACE_MS)
    assert.is(isAlive(child.pid), true)
    await Promise.all([child.end(stubborn ? 100 : GRACE_MS), child.end(GRACE_MS)])
    assert.is(isAlive(child.pid), false)
  }
})

test.run()
