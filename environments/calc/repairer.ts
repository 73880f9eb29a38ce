import { type AgentContext, defineAgent, type Shell } from 'troupe'
import { z } from 'troupe/environment'
import { failedFunctions, repair } from './repair.ts'

const TEST_COMMAND = 'PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider'

/** `skill`: the probability, from 0 to 1, of repairing each broken function the right way. */
const settings = z.strictObject({ skill: z.number().min(0).max(1).default(0.85) })

/** An agent without a model: it looks, tests, edits, and tests again. Throws on a config it does not know. */
export default defineAgent(config => {
  const { skill } = settings.parse(config)
  return {
    name: 'repairer',
    async run(context) {
      const run = makeRecorder(await context.shell(), context)
      await run('ls')
      const source = await run('cat calc.py')
      await run('cat test_calc.py')
      const broken = failedFunctions(await run(TEST_COMMAND))
      await run('cat > calc.py', repair(source, broken, skill, context.seed))
      const left = failedFunctions(await run(TEST_COMMAND))
      const answer = left.length === 0 ? 'Every test passes.' : `Still failing: ${left.join(', ')}.`
      return { answer, stop: 'done' }
    },
  }
})

/** Runs a command and records it as one turn; resolves with what it printed. */
function makeRecorder(shell: Shell, { record, signal }: Pick<AgentContext, 'record' | 'signal'>) {
  const began = performance.now()
  return async (command: string, stdin?: string): Promise<string> => {
    const atMs = performance.now() - began
    const { exitCode, stdout, stderr } = await shell.exec(command, {
      signal,
      ...(stdin === undefined ? {} : { stdin }),
    })
    const result = `${stdout}${stderr}`
    record({
      role: 'tool',
      text: `$ ${command}\n${result}`,
      toolCalls: [
        {
          name: 'bash',
          arguments: { command, ...(stdin === undefined ? {} : { stdin }) },
          result,
          isError: exitCode !== 0,
        },
      ],
      atMs,
      tookMs: performance.now() - began - atMs,
    })
    return stdout
  }
}
