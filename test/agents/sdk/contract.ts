import * as assert from 'uvu/assert'
import type { Agent, AgentStop } from '../../../src/agents/agent.ts'
import { makeOrigins, type Origins } from '../../../src/agents/chat/origins.ts'
import { type Clock, systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import type { Turn } from '../../../src/rollout/trajectory.ts'
import type { Shell } from '../../../src/wire/shell.ts'
import type { Suite } from '../../support/suite.ts'
import { failureOf, until, workspace } from '../chat/scene.ts'
import { PausesClock, STALL_MS } from './pauses-clock.ts'
import { type SseEvent, type SseServer, type SseStep, startSseServer, toWire } from './sse-server.ts'

/** A provider's agent, and its wire in its own words. */
export interface SdkCase {
  readonly path: string
  make(
    config: Readonly<Record<string, unknown>>,
    ports: { readonly clock: Clock; readonly origins: Origins; readonly env: NodeJS.ProcessEnv },
  ): Promise<Agent>
  say(text: string): readonly SseEvent[]
  /** A call of a tool over files that is always offered; `given` as text goes out as it is. */
  call(given: unknown): readonly SseEvent[]
  /** What the service streams when it gives up in the middle and may do better soon. */
  readonly passing: SseEvent
}

export interface SdkScene {
  readonly server: SseServer
  run(options?: {
    readonly config?: Readonly<Record<string, unknown>>
    readonly env?: NodeJS.ProcessEnv
    readonly prompt?: unknown
    readonly returns?: Readonly<Record<string, unknown>>
    readonly shell?: Shell
    readonly signal?: AbortSignal
    readonly traceparent?: string
  }): {
    readonly turns: readonly Turn[]
    readonly ended: Promise<{ readonly answer: unknown; readonly stop: AgentStop }>
  }
}

/** An agent before a service that follows the script; all of it closed at the end. */
export async function withSdk(
  { make }: Pick<SdkCase, 'make'>,
  script: SseServer['script'],
  body: (scene: SdkScene) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  const server = await startSseServer(script)
  const origins = makeOrigins(clock)
  try {
    await body({
      server,
      run({
        config,
        env = {},
        prompt = 'go',
        returns,
        shell = workspace({}),
        signal = new AbortController().signal,
        traceparent,
      } = {}) {
        const turns: Turn[] = []
        const agent = make({ model: 'm', baseUrl: server.url, ...config }, { clock, origins, env })
        const context = {
          prompt,
          ...(returns === undefined ? {} : { returns }),
          seed: 1,
          signal,
          ...(traceparent === undefined ? {} : { traceparent }),
          shell: async () => shell,
          record: (turn: Turn) => void turns.push(turn),
        }
        return { turns, ended: agent.then(made => made.run(context)) }
      },
    })
  } finally {
    await origins.close()
    await server.close()
  }
}

/** What every agent by a provider's SDK owes when the service is not at its best: the same as the chat agent. */
export function sdkContract(test: Suite, name: string, sdk: SdkCase): void {
  const fine: SseStep = { events: sdk.say('fine') }
  const half = sdk.say('fine').slice(0, 3)

  /** Runs one rollout; every pause passes as soon as it is begun. */
  async function through(script: readonly SseStep[], config: Readonly<Record<string, unknown>> = {}) {
    const clock = new PausesClock()
    let requests = 0
    let outcome: { answer?: unknown; error?: TroupeError } = {}
    await withSdk(
      sdk,
      script,
      async ({ server, run }) => {
        const ended = run({ config: { stallMs: STALL_MS, ...config } }).ended
        let isOver = false
        const over = () => {
          isOver = true
        }
        ended.then(over, over)
        while (!isOver) {
          await until(() => isOver || clock.canPass(server.requests.length, script))
          if (!isOver) await clock.pass()
        }
        outcome = await ended.then(
          ({ answer }) => ({ answer }),
          (error: unknown) => ({
            error: error instanceof TroupeError ? error : new TroupeError({ tag: 'not-ours', message: String(error) }),
          }),
        )
        requests = server.requests.length
      },
      clock,
    )
    return { ...outcome, requests, pauses: clock.passed.filter(pause => pause !== STALL_MS) }
  }

  test(`${name}: a service of the user’s own is told what a request is part of, where somebody draws it`, () =>
    withSdk(sdk, [fine], async ({ server, run }) => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      await run({ traceparent }).ended
      await run().ended
      assert.equal(
        server.requests.map(({ headers }) => headers.traceparent),
        [traceparent, undefined],
      )
    }))

  test(`${name}: 429 is waited for as the service says, and the same request made again`, async () => {
    const { answer, requests, pauses } = await through([{ status: 429, headers: { 'retry-after': '3' } }, fine])
    assert.equal([answer, requests], ['fine', 2])
    const [pause = 0] = pauses
    assert.ok(pause >= 3_000 && pause <= 3_750, String(pause))
  })

  test(`${name}: a wait past the bound is not begun`, async () => {
    const { error, requests } = await through([{ status: 429, headers: { 'retry-after': '3600' } }])
    assert.equal([error?.tag, requests], ['chat-unavailable', 1])
    assert.match(error?.message ?? '', /3600 s/)
  })

  test(`${name}: 5xx is asked again with growing pauses, for two minutes, and then called by its name`, async () => {
    assert.is((await through([{ status: 500 }, { status: 529 }, { status: 503 }, fine])).answer, 'fine')
    const { error, pauses } = await through([{ status: 500 }])
    assert.ok(error?.tag === 'chat-unavailable' || error?.tag === 'endpoint-down', error?.message)
    assert.is(error?.data.transient, true)
    assert.ok(pauses.length >= 8, String(pauses))
  })

  test(`${name}: a stream that stalls, is cut or ends early is asked for again, and nothing of it stands`, async () => {
    for (const end of ['silence', 'cut', 'early'] as const) {
      const { answer, requests, error } = await through([{ events: half, end }, fine])
      assert.equal([answer, requests], ['fine', 2], `${end}: ${error?.message}`)
    }
  })

  test(`${name}: a service that has nothing to say yet, and says that it is there, is waited for`, async () => {
    const clock = new PausesClock()
    await withSdk(
      sdk,
      [{ events: half, end: 'silence' }],
      async ({ server, run }) => {
        const { ended } = run({ config: { stallMs: STALL_MS } })
        // Once for the attempt, then for the head of the reply and for its body.
        await until(() => clock.set >= 3)
        for (let round = 0; round < 5; round += 1) {
          const before = clock.set
          await clock.advance(STALL_MS - 1)
          server.push('event: ping\ndata: {"type": "ping"}\n\n')
          await until(() => clock.set > before)
        }
        server.push(toWire(sdk.say('fine').slice(3)), 'end')
        assert.is((await ended).answer, 'fine')
        assert.is(server.requests.length, 1)
      },
      clock,
    )
  })

  test(`${name}: a failure that the service streams and that may pass is one that is tried again`, async () => {
    const { answer, requests, error } = await through([{ events: [...half, sdk.passing] }, fine])
    assert.equal([answer, requests], ['fine', 2], error?.message)
  })

  test(`${name}: a service that only ever stalls is lost, and not an answer`, async () => {
    const { error } = await through([{ events: half, end: 'silence' }])
    assert.ok(error?.tag === 'chat-unavailable' || error?.tag === 'endpoint-down', error?.message)
    assert.match(error?.message ?? '', /stalled: not a word for/)
  })

  test(`${name}: an event that is no JSON is an error that quotes it, and is not asked again`, async () => {
    const broken = { event: half[1]?.event ?? '', data: JSON.stringify(half[1]?.data).slice(0, -9) }
    const { error, requests } = await through([{ events: [...half, broken], end: 'early' }])
    assert.equal([error?.tag, requests], ['bad-chat-reply', 1], error?.message)
  })

  test(`${name}: what is refused is told apart, and no key stands in it`, () =>
    withSdk(sdk, [], async ({ server, run }) => {
      for (const [status, tag] of [
        [404, 'unknown-model'],
        [401, 'unauthorized'],
        [403, 'unauthorized'],
        [400, 'chat-refused'],
      ] as const) {
        const before = server.requests.length
        server.script = [{ status, body: { error: { message: 'no such s3cret' } } }]
        const error = await failureOf(run({ config: { apiKeyVariable: 'THE_KEY' }, env: { THE_KEY: 's3cret' } }).ended)
        assert.equal([error.tag, server.requests.length - before], [tag, 1])
        assert.not.match(JSON.stringify(error.data), /s3cret/)
      }
      assert.match(JSON.stringify(server.requests[0]?.headers), /s3cret/)
    }))

  test(`${name}: a rollout that is cut before the first word blames the service`, () =>
    withSdk(sdk, [{ events: [], end: 'silence' }], async ({ server, run }) => {
      const controller = new AbortController()
      const { ended } = run({ signal: controller.signal })
      await until(() => server.requests.length === 1)
      controller.abort(new Error('deadline'))
      const error = await failureOf(ended)
      assert.is(error.tag, 'chat-unavailable')
      assert.match(error.message, /never answered.*deadline/)
    }))

  test(`${name}: arguments cut in their middle are told to the model, which may do better, and not run`, () =>
    withSdk(sdk, [{ events: sdk.call('{"path": "a') }, fine], async ({ server, run }) => {
      const { turns, ended } = run()
      assert.equal(await ended, { answer: 'fine', stop: 'done' })
      assert.match(turns[1]?.toolCalls?.[0]?.result ?? '', /no JSON object; it was not run/)
      assert.is(turns[1]?.toolCalls?.[0]?.isError, true)
      assert.match(JSON.stringify(server.requests[1]?.body), /no JSON object; it was not run/)
      assert.is(server.connections, 1, 'the next turn uses the connection again')
    }))

  test(`${name}: a model that only ever makes calls that cannot be run is stopped`, () =>
    withSdk(sdk, [{ events: sdk.call('{') }], async ({ server, run }) => {
      assert.is((await run().ended).stop, 'malformed-tool-call')
      assert.is(server.requests.length, 3)
    }))

  test(`${name}: no token ids are made up, and the exact model is kept`, () =>
    withSdk(sdk, [fine], async ({ server, run }) => {
      const { turns, ended } = run()
      await ended
      assert.is(server.requests[0]?.path, sdk.path)
      assert.is(turns.length, 1)
      assert.not('tokens' in (turns[0] ?? {}))
      assert.match(turns[0]?.version ?? '', /\d{4}/)
    }))

  test(`${name}: another place is sent no key but its own`, () =>
    withSdk(sdk, [fine], async ({ server, run }) => {
      await run({ env: { ANTHROPIC_API_KEY: 's3cret', OPENAI_API_KEY: 's3cret' } }).ended
      assert.not.match(JSON.stringify(server.requests[0]?.headers), /s3cret/)
    }))

  test(`${name}: a config with a mistake is refused by name`, async () => {
    const ports = { clock: systemClock, origins: makeOrigins(systemClock), env: {} }
    const error = await failureOf(
      sdk.make({ model: 'm', baseUrl: 'http://a:b@c', request: { model: 'x' }, skill: 1 }, ports),
    )
    assert.is(error.tag, 'bad-agent-config')
    assert.match(error.message, /baseUrl.*request\.model.*skill/s)
    assert.is((await failureOf(sdk.make({ model: 'm' }, ports))).tag, 'no-key')
  })
}
