import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { startThreads } from '../../src/threads/pool.ts'
import { suite } from '../support/suite.ts'
import type { Block } from './fixtures/stuck-shard.ts'

const test = suite('threads in a native call')

test('closing waits for one no longer than it says, and says that it is left', async () => {
  const system = makeSystem({ node: 'main' })
  let root: Ref<Block> | undefined
  const pool = startThreads({
    threads: 1,
    entry: new URL('./fixtures/stuck-shard.js', import.meta.url),
    data: {},
    system,
    onUp: thread => {
      root = system.ref(thread.root.address)
    },
    onDown() {},
  })
  await pool.started
  // Longer than the 2 s that a thread beyond asking is given, and over before the process counts as one that does not end.
  root?.tell({ type: 'block', seconds: 5 })
  const startedAt = performance.now()
  const failure = await pool.close(200).then(
    () => undefined,
    error => error,
  )
  const tookMs = performance.now() - startedAt
  assert.ok(hasTag(failure, 'threads-left'), String(failure))
  assert.match(failure.message, /1 thread/)
  assert.ok(tookMs < 4_800, `${tookMs} ms`)
  await system.stop()
})

test.run()
