import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { failureOf, withChat, withTokens, workspace } from './scene.ts'

const test = suite('tokens of the chat agent')

const shell = workspace({ a: 'text' })
const calls = [{ name: 'read', arguments: { filePath: 'a' } }]

test('each turn keeps the ids and logprobs it came with, and later turns go on from them, nothing tokenised anew', () =>
  withChat(
    [
      { calls, ids: [1, 2], logprobs: [-0.25, -0.5] },
      { calls: [...calls, ...calls], ids: [3], logprobs: [-1] },
      { text: 'done', ids: [4, 5, 6], logprobs: [0, -2, -4] },
    ],
    async ({ server, run }) => {
      const { ended, turns } = run({ shell, config: withTokens })
      await ended
      const tokens = turns.flatMap(turn => (turn.tokens === undefined ? [] : [turn.tokens]))
      assert.equal(tokens, [
        { prompt: Uint32Array.of(1000), output: Uint32Array.of(1, 2), logprobs: Float32Array.of(-0.25, -0.5) },
        { prompt: Uint32Array.of(1000, 1, 2, 1002), output: Uint32Array.of(3), logprobs: Float32Array.of(-1) },
        {
          prompt: Uint32Array.of(1000, 1, 2, 1002, 3, 1004, 1005),
          output: Uint32Array.of(4, 5, 6),
          logprobs: Float32Array.of(0, -2, -4),
        },
      ])
      assert.equal(
        server.requests.map(request => [
          request.return_token_ids,
          request.logprobs,
          request.messages.length,
          request.continuation_from,
          request.prompt_token_ids,
        ]),
        [
          [true, true, 1, undefined, undefined],
          [true, true, 3, 2, [1000, 1, 2]],
          [true, true, 6, 4, [1000, 1, 2, 1002, 3]],
        ],
      )
    },
  ))

test('a system prompt is among the messages that are covered', () =>
  withChat([{ calls }, { text: 'x' }], async ({ server, run }) => {
    await run({ shell, config: { ...withTokens, systemPrompt: 'Be brief.' } }).ended
    assert.is(server.requests[1]?.messages.length, 4)
    assert.is(server.requests[1]?.continuation_from, 3)
  }))

test('messages of the prompt, those of the assistant too, are covered as the server tokenised them, and never again', () =>
  withChat(
    [
      { calls, ids: [1] },
      { calls, ids: [2] },
      { text: '{"n": 1}', ids: [3] },
    ],
    async ({ server, run }) => {
      const prompt = [
        { role: 'system', content: 'You add.' },
        { role: 'user', content: '1 + 1' },
        { role: 'assistant', content: '2' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '2' },
            { type: 'text', text: '+ 2' },
          ],
        },
      ]
      const { turns, ended } = run({ shell, prompt, config: withTokens, returns: { type: 'object' } })
      assert.equal((await ended).answer, { n: 1 })
      assert.equal(
        server.requests.map(({ messages, continuation_from: from }) => [messages.length, from]),
        [
          [4, undefined],
          [6, 5],
          [8, 7],
        ],
      )
      const tokens = turns.flatMap(turn => turn.tokens ?? [])
      assert.is(tokens.length, 3)
      for (const [index, { prompt: ids }] of tokens.slice(1).entries()) {
        const before = [...(tokens[index]?.prompt ?? []), ...(tokens[index]?.output ?? [])]
        assert.equal([...ids.slice(0, before.length)], before)
      }
    },
  ))

test('without token ids a training run fails at its first turn, and is told what is missing', () =>
  withChat([], async ({ server, run }) => {
    for (const [without, missing] of [
      [['token_ids'], /no token_ids:/],
      [['logprobs'], /no logprobs\.content:/],
      [
        ['prompt_token_ids', 'token_ids', 'logprobs'],
        /no prompt_token_ids, no token_ids, no logprobs\.content:.*learn nothing/,
      ],
    ] as const) {
      server.script = [{ calls, without }]
      const before = server.requests.length
      const { ended, turns } = run({ shell, config: withTokens })
      const error = await failureOf(ended)
      assert.is(error.tag, 'no-token-ids')
      assert.match(error.message, missing)
      assert.match(error.message, /turn 1/)
      assert.equal([turns.length, server.requests.length - before], [0, 1])
    }
  }))

test('where tokens are asked for and not required, a turn without flat prompt ids goes without, and so does the next request', () =>
  withChat([{ calls }, { calls, without: ['prompt_token_ids'] }, { text: 'x' }], async ({ server, run }) => {
    const { ended, turns } = run({ shell, config: { ...withTokens, requireTokens: false } })
    await ended
    assert.equal(
      turns.filter(({ role }) => role === 'assistant').map(({ tokens }) => tokens !== undefined),
      [true, false, true],
    )
    assert.equal(
      server.requests.map(request => [request.continuation_from, request.prompt_token_ids !== undefined]),
      [
        [undefined, false],
        [2, true],
        [undefined, false],
      ],
    )
  }))

test('ids and logprobs that are not as many fail the rollout', () =>
  withChat([{ text: 'x', ids: [1, 2, 3], logprobs: [-1, -1] }], async ({ run }) => {
    const { ended, turns } = run({ config: withTokens })
    const error = await failureOf(ended)
    assert.is(error.tag, 'token-mismatch')
    assert.equal(error.data.details, { turn: 1, ids: 3, logprobs: 2 })
    assert.is(turns.length, 0)
  }))

test('token fields that are no tokens are the server’s fault', () =>
  withChat([], async ({ server, run }) => {
    for (const ids of [[-1], [1.5], [2 ** 32]]) {
      server.script = [{ text: 'x', ids }]
      const error = await failureOf(run({ config: withTokens }).ended)
      assert.is(error.tag, 'bad-chat-reply')
      assert.match(error.message, /token_ids\[0\]/)
    }
  }))

test('nobody who does not ask for tokens gets any', () =>
  withChat([{ calls }, { text: 'x' }], async ({ server, run }) => {
    const { ended, turns } = run({ shell })
    await ended
    assert.ok(turns.every(({ tokens }) => tokens === undefined))
    assert.is(server.requests[1]?.continuation_from, undefined)
  }))

test.run()
