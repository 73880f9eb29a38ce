import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { type SandboxId, toSandboxId } from '../../src/ids.ts'
import type { ProvisionRequest, Runtime } from '../../src/runtimes/runtime.ts'
import type { Task } from '../../src/taskset/task.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import type { Suite } from '../support/suite.ts'

/** A runtime to test, and what is left of it on the machine. */
export interface RuntimeScene {
  readonly runtime: Runtime
  /** What its sandboxes are asked for, where it makes none for no task in particular. */
  readonly task?: Task
  /** Processes, directories and sessions that its sandboxes hold now, by name. Not what is borrowed. */
  leftovers(): Promise<readonly string[]> | readonly string[]
  /** Ends what the scene itself started. */
  end(): Promise<void>
}

export function toRequest(id: string, more: Partial<ProvisionRequest> = {}): ProvisionRequest {
  const { signal } = new AbortController()
  return { id: toSandboxId(id), task: undefined, labels: { job: 'contract' }, prewarm: false, signal, ...more }
}

/** What every runtime does. `open` makes a fresh one for each test. */
export function runtimeContract(test: Suite, open: () => Promise<RuntimeScene>): void {
  const inScene = (title: string, body: (scene: RuntimeScene) => Promise<void>) =>
    test(title, async () => {
      const scene = await open()
      try {
        await body(scene)
      } finally {
        await scene.runtime.close()
        await scene.end()
      }
    })

  inScene('passes its preflight, as often as asked', async ({ runtime }) => {
    await runtime.preflight()
    await runtime.preflight()
  })

  inScene(
    'provides sandboxes that answer, several at once, under the ids and labels asked for',
    async ({ runtime, task }) => {
      const sandboxes = await Promise.all(['one', 'two', 'three'].map(id => runtime.provision(toRequest(id, { task }))))
      const client = makeControlClient()
      try {
        for (const sandbox of sandboxes) {
          const session = await client.connect(sandbox.address, { clock: systemClock, deadlineMs: 10_000 })
          assert.equal((await session.startTask('echo', {})).prompt !== undefined, true)
          await session.end()
          assert.equal(sandbox.labels, { job: 'contract' })
          assert.is(sandbox.sessionId, undefined)
        }
      } finally {
        await client.close()
      }
      assert.equal(
        sandboxes.map(sandbox => sandbox.id),
        ['one', 'two', 'three'],
      )
      const listed = await runtime.list?.()
      assert.equal(listed?.map(entry => entry.id).sort(), ['one', 'three', 'two'])
      for (const sandbox of sandboxes) await sandbox.dispose({ sessionEnded: true })
      assert.equal(await runtime.list?.(), [])
    },
  )

  inScene('a prewarmed sandbox is past hello, and its session can be resumed', async ({ runtime, task }) => {
    const sandbox = await runtime.provision(toRequest('warm', { prewarm: true, task }))
    const client = makeControlClient()
    try {
      const { address, sessionId } = sandbox
      assert.type(sessionId, 'string')
      const session = await client.connect(address, {
        clock: systemClock,
        deadlineMs: 10_000,
        ...(sessionId === undefined ? {} : { sessionId }),
      })
      assert.is(session.sessionId, sessionId)
      await session.end()
    } finally {
      await client.close()
    }
    await sandbox.dispose({ sessionEnded: true })
  })

  inScene('dispose may be called twice, and ends a session that nobody resumed', async ({ runtime, task }) => {
    const sandbox = await runtime.provision(toRequest('unused', { prewarm: true, task }))
    await sandbox.dispose({ sessionEnded: false })
    await sandbox.dispose({ sessionEnded: false })
    assert.equal(await runtime.list?.(), [])
  })

  inScene('a create that is not wanted any more rejects and leaves nothing', async ({ runtime, task }) => {
    const controller = new AbortController()
    controller.abort(new Error('not wanted'))
    await rejects(runtime.provision(toRequest('never', { signal: controller.signal, prewarm: true, task })))
    assert.equal(await runtime.list?.(), [])
  })

  test('close ends all it started, may be called twice, and nothing is provided after it', async () => {
    const { runtime, task, leftovers, end } = await open()
    try {
      const ids: SandboxId[] = []
      for (const id of ['one', 'two'])
        ids.push((await runtime.provision(toRequest(id, { prewarm: id === 'two', task }))).id)
      assert.is(ids.length, 2)
      await Promise.all([runtime.close(), runtime.close()])
      await rejects(runtime.provision(toRequest('late', { task })))
      assert.equal(await leftovers(), [])
    } finally {
      await end()
    }
  })
}

async function rejects(promise: Promise<unknown>): Promise<void> {
  const value = await promise.then(
    () => 'a sandbox',
    () => undefined,
  )
  assert.is(value, undefined)
}
