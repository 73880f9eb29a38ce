import { type Clock, systemClock } from '../clock.ts'
import type { Agent } from './agent.ts'
import { badAgentConfig, problemsOf } from './errors.ts'
import { lazySchema } from './schema.ts'

/** Also the source of docs/reference/configuration.md. */
export const scriptedConfigSchema = lazySchema(z =>
  z.strictObject({
    commands: z.array(z.string()).default([]).describe('Run in turn, whatever they print.'),
    answer: z.string().default('').describe('Given at the end.'),
  }),
)

/**
 * The fixed course: the same commands in turn whatever they print, then the answer. It asks for no shell when it has no command.
 * Throws `bad-agent-config`.
 */
export function makeScriptedAgent(config: Readonly<Record<string, unknown>>, clock: Clock = systemClock): Agent {
  const parsed = scriptedConfigSchema().safeParse(config)
  if (!parsed.success) throw badAgentConfig('scripted', problemsOf(parsed.error), parsed.error)
  const { commands, answer } = parsed.data
  return {
    name: 'scripted',
    async run({ shell, signal, record }) {
      const startedAt = clock.now()
      for (const command of commands) {
        signal.throwIfAborted()
        const atMs = clock.now() - startedAt
        const { exitCode, stdout, stderr } = await (await shell()).exec(command, { signal })
        const result = `${stdout}${stderr}`
        record({
          role: 'tool',
          text: `$ ${command}\n${result}`,
          toolCalls: [{ name: 'bash', arguments: { command }, result, isError: exitCode !== 0 }],
          atMs,
          tookMs: clock.now() - startedAt - atMs,
        })
      }
      return { answer, stop: 'done' }
    },
  }
}
