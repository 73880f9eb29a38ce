import { type Command, Option } from 'commander'
import { TEMPLATES, type TemplateName } from '../../scaffold/templates.ts'
import type { Cli } from '../cli.ts'

/** The options of `troupe init` as the action gets them. */
export interface InitArguments {
  readonly name?: string
  readonly template: TemplateName
  readonly force?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('[dir]', 'where; it is made if it is not there', '.')
    .option('--name <name>', "of the environment and its package (default: the directory's)")
    .addOption(new Option('--template <name>', describeTemplates()).choices(Object.keys(TEMPLATES)).default('shell'))
    .option('--force', 'replace files of the same name')
    .addHelpText('after', EXAMPLES)
    .action(async (directory: string, options: InitArguments) => {
      const { runInit } = await import('../run-init.ts')
      await runInit(directory, options, cli)
    })
}

function describeTemplates(): string {
  return Object.entries(TEMPLATES)
    .map(([name, what]) => `${name}: ${what}`)
    .join('; ')
}

const EXAMPLES = `
Examples:
  $ troupe init orders
  $ troupe init letters --template question
  $ troupe init . --name orders --force

Writes an environment with tasks, an agent to try it with, tests and a Dockerfile, asks nothing, and says what to run next.`
