import type { AgentStop } from '../../../src/agents/agent.ts'
import { makeChatAgent } from '../../../src/agents/chat/chat-agent.ts'
import type { ChatConfig } from '../../../src/agents/chat/config.ts'
import { makeOrigins } from '../../../src/agents/chat/origins.ts'
import { systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import type { Turn } from '../../../src/rollout/trajectory.ts'
import type { Shell } from '../../../src/wire/shell.ts'
import { fakeShell } from '../../contracts/agent.ts'
import { type FakeChatServer, type FakeScript, startFakeChatServer } from '../../support/fake-chat-server.ts'
import type { VirtualClock } from '../../support/virtual-clock.ts'

export interface Rollout {
  readonly turns: readonly Turn[]
  readonly ended: Promise<{ readonly answer: unknown; readonly stop: AgentStop }>
}

export interface Scene {
  readonly server: FakeChatServer
  run(options?: {
    readonly config?: Partial<ChatConfig>
    readonly prompt?: unknown
    readonly returns?: Readonly<Record<string, unknown>>
    readonly seed?: number
    readonly shell?: Shell | 'none'
    readonly signal?: AbortSignal
    readonly traceparent?: string
  }): Rollout
}

/** The config that asks for tokens, as a training does. */
export const withTokens = { completionKwargs: { extra_body: { return_token_ids: true } } } as const

/** A chat agent before a server that follows the script, with connections of their own; all of it closed at the end. */
export async function withChat(
  script: FakeScript,
  body: (scene: Scene) => Promise<void>,
  clock?: VirtualClock,
): Promise<void> {
  const server = await startFakeChatServer(script)
  const origins = makeOrigins(clock ?? systemClock)
  try {
    await body({
      server,
      run({
        config,
        prompt = 'go',
        returns,
        seed = 1,
        shell = workspace({}),
        signal = new AbortController().signal,
        traceparent,
      } = {}) {
        const agent = makeChatAgent(
          { model: 'org/tiny', endpoint: { inferenceUrl: server.url }, ...config },
          { origins, ...(clock === undefined ? {} : { clock }) },
        )
        const turns: Turn[] = []
        const ended = agent.run({
          prompt,
          ...(returns === undefined ? {} : { returns }),
          seed,
          signal,
          ...(traceparent === undefined ? {} : { traceparent }),
          shell: () => (shell === 'none' ? Promise.reject(noShell()) : Promise.resolve(shell)),
          record: turn => void turns.push(turn),
        })
        return { turns, ended }
      },
    })
  } finally {
    await origins.close()
    await server.close()
  }
}

/** Files in memory, and no command that does anything. */
export function workspace(files: Readonly<Record<string, string>>): Shell {
  const shell = fakeShell(files, async () => ({ exitCode: 0, stdout: '', stderr: '' }))
  const written = new Set(Object.keys(files))
  return {
    ...shell,
    async readFile(path) {
      if (!written.has(path))
        throw new TroupeError({ tag: 'file-not-read', message: `cannot read ${path}: no such file` })
      return shell.readFile(path)
    },
    async writeFile(path, content) {
      written.add(path)
      await shell.writeFile(path, content)
    },
  }
}

/** What it rejects with. */
export async function failureOf(ended: Promise<unknown>): Promise<TroupeError> {
  const thrown = await ended.then(
    value => new Error(`it ended well: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (thrown instanceof TroupeError) return thrown
  throw thrown
}

/** Lets the event loop turn until `condition` holds; the test's own deadline bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}

function noShell(): TroupeError {
  return new TroupeError({ tag: 'no-shell', message: 'no shell is offered' })
}
