import * as assert from 'uvu/assert'
import { makeChatAgent } from '../../../src/agents/chat/chat-agent.ts'
import { makeOrigins } from '../../../src/agents/chat/origins.ts'
import { systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import { startFakeChatServer } from '../../support/fake-chat-server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('a model that falls silent')

test('a model that never answers, or stops in the middle, is asked again after its time', async () => {
  const server = await startFakeChatServer([
    { partly: '', end: 'silence' },
    { partly: '{"choices": [{"message": {"cont', end: 'silence' },
    { text: 'at last' },
  ])
  const origins = makeOrigins(systemClock, 300)
  try {
    const agent = makeChatAgent({ model: 'org/tiny', endpoint: { inferenceUrl: server.url } }, { origins })
    const { answer } = await agent.run({
      prompt: 'go',
      seed: 1,
      signal: new AbortController().signal,
      shell: () => Promise.reject(new TroupeError({ tag: 'no-shell', message: 'no shell is offered' })),
      record() {},
    })
    assert.equal([answer, server.requests.length], ['at last', 3])
  } finally {
    await origins.close()
    await server.close()
  }
})

test.run()
