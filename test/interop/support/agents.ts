/** Agents that run in the engine's threads, at environments that are not ours. */
import { type Agent, type AgentContext, defineAgent } from '../../../src/agents/agent.ts'
import { quote } from '../../../src/quote.ts'

/** Adds up the numbers of the prompt. */
export const adder = defineAgent(() => answering('adder', ({ prompt }) => String(sumOf(textOf(prompt)))))

/** Says what it is told to. */
export const speaker = defineAgent(({ answer }) => answering('speaker', () => answer))

/** Answers with the prompt itself. */
export const echo = defineAgent(() => answering('echo', ({ prompt }) => prompt))

/** Looks, tests, edits by what it knows of the bugs, and tests again. */
export const repairer = defineAgent(({ repairs, command }) =>
  answering('repairer', async context => {
    const shell = await context.shell()
    const before = await shell.exec(String(command))
    let source = await shell.readFile('calc.py')
    for (const [buggy, correct] of Object.entries(repairs ?? {})) source = source.replaceAll(buggy, String(correct))
    await shell.writeFile('calc.py', source)
    const after = await shell.exec(String(command))
    return `${before.exitCode} then ${after.exitCode}`
  }),
)

/** Tries what a shell of another's workspace is good for, and answers with what it found. */
export const prober = defineAgent(() =>
  answering('prober', async ({ shell: open }) => {
    const shell = await open()
    const apart = await shell.exec('echo out; echo err >&2; exit 5')
    await shell.writeFile("it's new/file.txt", 'Grüße 😀\n')
    const fed = await shell.exec('cat | wc -c', { stdin: 'x'.repeat(200_000) })
    const id = await shell.exec('id -u')
    await shell.writeFile('answer', `seen ${id.stdout}`)
    const long = await shell.exec('seq 1 100000')
    return {
      protocol: shell.protocol,
      cwd: shell.cwd,
      pwd: (await shell.exec('pwd')).stdout.trim(),
      apart: [apart.stdout, apart.stderr, apart.exitCode],
      file: await shell.readFile("it's new/file.txt"),
      listed: (await shell.exec(`ls -A ${quote("it's new")}`)).stdout,
      staged: await shell.readFile('note.txt'),
      fed: fed.stdout.trim(),
      long: long.stdout.length,
      variables: (await shell.exec('env | grep -c ^HUD_')).stdout.trim(),
    }
  }),
)

function answering(name: string, toAnswer: (context: AgentContext) => unknown): Agent {
  return { name, run: async context => ({ answer: await toAnswer(context), stop: 'done' }) }
}

function textOf(prompt: unknown): string {
  return typeof prompt === 'string' ? prompt : JSON.stringify(prompt)
}

function sumOf(text: string): number {
  return (text.match(/-?\d+/g) ?? []).reduce((sum, each) => sum + Number(each), 0)
}
