import { z } from 'zod'
import type { Agent } from './agent.ts'
import { badAgentConfig } from './errors.ts'

const configSchema = z.object({ commands: z.array(z.string()).default([]), answer: z.string().default('') })

/** Runs the same commands in turn whatever they print, then answers. Throws `bad-agent-config`. */
export function makeScriptedAgent(config: Readonly<Record<string, unknown>>): Agent {
  const parsed = configSchema.safeParse(config)
  if (!parsed.success)
    throw badAgentConfig(
      'scripted',
      parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    )
  const { commands, answer } = parsed.data
  return {
    name: 'scripted',
    async run(context) {
      const startedAt = performance.now()
      for (const command of commands) {
        const atMs = performance.now() - startedAt
        const shell = await context.shell()
        const { exitCode, stdout, stderr } = await shell.exec(command, { signal: context.signal })
        const result = `${stdout}${stderr}`
        context.record({
          role: 'tool',
          text: `$ ${command}\n${result}`,
          toolCalls: [{ name: 'bash', arguments: { command }, result, isError: exitCode !== 0 }],
          atMs,
          tookMs: performance.now() - startedAt - atMs,
        })
      }
      return { answer, stop: 'done' }
    },
  }
}
