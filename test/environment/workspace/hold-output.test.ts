import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import * as assert from 'uvu/assert'
import { holdOutput } from '../../../src/environment/workspace/hold-output.ts'
import type { RunningProcess } from '../../../src/environment/workspace/process.ts'
import { suite } from '../../support/suite.ts'

const test = suite('output that is held')

test('what a process said before it ended is there for whoever comes later', async () => {
  const child = spawn('/bin/sh', ['-c', 'echo ready'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  const process: RunningProcess = {
    ...{ pid: child.pid ?? 0, stdin, stdout, stderr, extra: [], kill: () => {}, killFor: () => {} },
    ended: once(child, 'close').then(() => ({ exitCode: 0, signal: undefined, why: undefined })),
  }
  const held = holdOutput(process)
  // The process is gone, and its pipe read to the end, before anybody reads what it said.
  await process.ended
  assert.is(await text(held.stdout), 'ready\n')
})

test.run()
