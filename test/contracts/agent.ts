import * as assert from 'uvu/assert'
import type { AgentContext, AgentSpec } from '../../src/agents/agent.ts'
import { resolveAgent } from '../../src/agents/create-agent.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'
import type { CommandOptions, CommandResult, Shell } from '../../src/wire/shell.ts'
import type { Suite } from '../support/suite.ts'

/** A shell without a sandbox: `exec` answers what it is told to, files are kept in memory. */
export function fakeShell(
  files: Readonly<Record<string, string>>,
  exec: (command: string, options?: CommandOptions) => Promise<CommandResult>,
): Shell {
  const content = new Map(Object.entries(files))
  return {
    protocol: 'exec/1',
    cwd: '/workspace',
    exec,
    readFile: async path => content.get(path) ?? '',
    writeFile: async (path, text) => void content.set(path, String(text)),
    close: async () => {},
  }
}

export interface AgentCase {
  readonly spec: AgentSpec
  readonly prompt: string
  readonly files?: Readonly<Record<string, string>>
  /** Whether it runs commands, and so has something to wait for. */
  readonly usesShell: boolean
}

/** What every agent owes the rollout that runs it. */
export function agentContract(test: Suite, name: string, { spec, prompt, files = {}, usesShell }: AgentCase): void {
  const succeed = async (): Promise<CommandResult> => ({ exitCode: 0, stdout: '', stderr: '' })

  async function run(exec: Shell['exec'], signal: AbortSignal, seed = 1) {
    const agent = await resolveAgent(spec)
    const turns: Turn[] = []
    const shell = async () => fakeShell(files, exec)
    const context: AgentContext = { prompt, seed, signal, shell, record: turn => void turns.push(turn) }
    return { turns, ended: agent.run(context) }
  }

  test(`${name}: resolves with an answer and why it stopped, its turns in the order of their time`, async () => {
    const { turns, ended } = await run(succeed, new AbortController().signal)
    const { answer, stop } = await ended
    assert.ok(answer !== undefined)
    assert.is(stop, 'done')
    for (const [index, turn] of turns.entries()) {
      assert.ok(turn.tookMs >= 0)
      assert.ok(turn.atMs >= (turns[index - 1]?.atMs ?? 0))
    }
  })

  test(`${name}: the same seed takes the same course`, async () => {
    const courses = await Promise.all(
      [7, 7].map(async seed => {
        const { turns, ended } = await run(succeed, new AbortController().signal, seed)
        const { answer } = await ended
        return { answer, turns: turns.map(({ text, toolCalls }) => ({ text, toolCalls })) }
      }),
    )
    assert.equal(courses[0], courses[1])
  })

  test(`${name}: many run at once in one thread, each for itself`, async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => run(succeed, new AbortController().signal)))
    const answers = await Promise.all(all.map(({ ended }) => ended))
    assert.is(new Set(answers.map(answer => JSON.stringify(answer))).size, 1)
    assert.is(new Set(all.map(({ turns }) => turns.length)).size, 1)
  })

  if (!usesShell) return
  test(`${name}: an abort ends it, and it starts nothing more`, async () => {
    const controller = new AbortController()
    let commands = 0
    const hang: Shell['exec'] = (_command, options) => {
      commands += 1
      return new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
        controller.abort(new Error('cut'))
      })
    }
    const { ended } = await run(hang, controller.signal)
    const thrown = await ended.then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.instance(thrown, Error)
    assert.is(commands, 1)
  })
}
