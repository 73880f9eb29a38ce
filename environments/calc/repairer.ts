import { type AgentContext, defineAgent, type Shell, systemClock } from 'troupe'
import { z } from 'troupe/environment'
import { failedFunctions, repairFunction } from './repair.ts'

const TEST_COMMAND = 'PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider'

/** `skill`: the probability, from 0 to 1, of repairing each broken function the right way. */
const settings = z.strictObject({ skill: z.number().min(0).max(1).default(0.85) })

/** An agent without a model: it looks, tests, edits, and tests again. Throws on a config it does not know. */
export default defineAgent(config => {
  const { skill } = settings.parse(config)
  return {
    name: 'repairer',
    async run(context) {
      const tools = makeTools(await context.shell(), context)
      await tools.bash('ls')
      let source = await tools.read('calc.py')
      await tools.read('test_calc.py')
      for (const name of failedFunctions(await tools.bash(TEST_COMMAND))) {
        const edited = repairFunction(source, name, skill, context.seed)
        if (edited !== source) await tools.write('calc.py', edited)
        source = edited
      }
      const left = failedFunctions(await tools.bash(TEST_COMMAND))
      const answer = left.length === 0 ? 'Every test passes.' : `Still failing: ${left.join(', ')}.`
      return { answer, stop: 'done' }
    },
  }
})

/** The tools any agent has over a shell; each call is recorded as one turn. */
function makeTools(shell: Shell, { record, signal }: Pick<AgentContext, 'record' | 'signal'>) {
  const began = systemClock.now()

  async function call(
    name: string,
    args: Readonly<Record<string, string>>,
    work: () => Promise<{ readonly result: string; readonly isError?: boolean }>,
  ): Promise<string> {
    signal.throwIfAborted()
    const atMs = systemClock.now() - began
    const { result, isError = false } = await work()
    record({
      role: 'tool',
      text: `${name} ${args.command ?? args.path}\n${result}`,
      toolCalls: [{ name, arguments: args, result, isError }],
      atMs,
      tookMs: systemClock.now() - began - atMs,
    })
    return result
  }

  return {
    bash: (command: string) =>
      call('bash', { command }, async () => {
        const { exitCode, stdout, stderr } = await shell.exec(command, { signal })
        return { result: `${stdout}${stderr}`, isError: exitCode !== 0 }
      }),
    read: (path: string) => call('read', { path }, async () => ({ result: await shell.readFile(path) })),
    write: (path: string, content: string) =>
      call('write', { path, content }, async () => {
        await shell.writeFile(path, content)
        return { result: '' }
      }),
  }
}
