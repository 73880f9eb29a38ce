import { relative, resolve, sep } from 'node:path'
import { quote } from '../quote.ts'
import { type Scaffolded, scaffold } from '../scaffold/scaffold.ts'
import { TEMPLATES } from '../scaffold/templates.ts'
import type { Cli } from './cli.ts'
import type { InitArguments } from './commands/init.ts'

/** `troupe init`. Rejects with what `scaffold` does. */
export async function runInit(place: string, options: InitArguments, { console }: Cli): Promise<void> {
  const { template, name, force = false } = options
  const made = await scaffold(place, { template, force, ...(name === undefined ? {} : { name }) })
  await console.print(`${made.name}: ${TEMPLATES[template]}`)
  for (const file of made.files) await console.print(`  ${file}${made.replaced.includes(file) ? ' (replaced)' : ''}`)
  await console.print(`\n${nextCommands(made)}`)
  if (leadsOutside(made))
    console.talk(
      `package.json asks npm for troupe as ${made.spec}, where this command came from. An image is built from the new directory alone: before \`--runtime docker\`, name a version there, or a tarball in it that Dockerfile.hud copies.`,
    )
}

function nextCommands({ directory }: Scaffolded): string {
  const at = relative(process.cwd(), directory)
  // As this command was called: npx finds it where no path does.
  const troupe = process.env.npm_command === 'exec' ? 'npx troupe' : 'troupe'
  const enter = at === '' ? [] : [`cd ${/^[\w./@-]+$/.test(at) ? at : quote(at)}`]
  const commands = [
    [`${troupe} eval . agent.ts --all`, 'every task, by an agent without a model: graded 1'],
    [`${troupe} play .`, 'you are the agent'],
    ['npm install', 'what the next two need'],
    ['npm test', 'can it be solved, and only by solving it?'],
    ['npm run check', 'its types'],
  ] as const
  const width = Math.max(...commands.map(([command]) => command.length))
  return [
    'Next:',
    ...enter.map(each => `  ${each}`),
    ...commands.map(([command, why]) => `  ${command.padEnd(width)}  # ${why}`),
  ].join('\n')
}

function leadsOutside({ spec, directory }: Scaffolded): boolean {
  if (!spec.startsWith('file:')) return false
  return !resolve(directory, spec.slice('file:'.length)).startsWith(directory + sep)
}
