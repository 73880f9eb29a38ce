/** docs/reference/cli.md, from the commands themselves. */
import type { Argument, Command, Option } from 'commander'
import { EXIT } from '../../../src/cli/exit-codes.ts'
import { code, plain, toTable } from './table.ts'

export const HEAD = '<!-- Made by `npm run docs:reference` from the sources. Edit those. -->'

const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'the command did what was asked; for `eval`, every planned run has a grade',
  failed: 'it started, but runs have no grade, or something broke on the way',
  badInput: 'the input cannot be used; nothing was started',
  interrupted: 'Ctrl-C or SIGTERM',
}

export function makeCliReference(program: Command): string {
  const exits = Object.entries(EXIT).map(([name, status]) => [String(status), EXITS[name as keyof typeof EXIT]])
  const commands = leavesOf(program)
  return `${HEAD}

# Command-line reference

Every command with all that it takes, as \`troupe COMMAND --help\` tells it. [cli.md](../cli.md) says what the options are for, [configuration.md](configuration.md) has the environment variables.

${toTable(['exit status', 'meaning'], exits)}

${toTable(
  ['command', 'what it does'],
  commands.map(command => [
    `[${code(pathOf(command))}](#${pathOf(command).replaceAll(' ', '-')})`,
    plain(command.description()),
  ]),
)}

${commands.map(describeCommand).join('\n\n')}
`
}

/** Commands that do something by themselves, in the order of the help. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function describeCommand(command: Command): string {
  const words = command.registeredArguments.map(argument => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const options = command.options.filter(option => !option.hidden)
  return [
    `## ${pathOf(command)}`,
    code([pathOf(command), ...words, ...(options.length > 0 ? ['[options]'] : [])].join(' ')),
    plain(command.description()),
    ...(words.length === 0
      ? []
      : [toTable(['argument', 'default', 'meaning'], command.registeredArguments.map(describeArgument))]),
    ...(options.length === 0 ? [] : [toTable(['option', 'default', 'meaning'], options.map(describeOption))]),
    ...toExamples(command),
  ].join('\n\n')
}

function describeArgument(argument: Argument): readonly string[] {
  const fallback = argument.required
    ? 'must be given'
    : toDefault(argument.defaultValue, argument.defaultValueDescription)
  return [code(argument.name()), fallback, plain(argument.description)]
}

function describeOption(option: Option): readonly string[] {
  const choices = option.argChoices === undefined ? '' : `; one of ${option.argChoices.map(code).join(', ')}`
  const isSwitch = option.isBoolean() || option.negate
  const fallback = option.mandatory
    ? 'must be given'
    : isSwitch
      ? ''
      : toDefault(option.defaultValue, option.defaultValueDescription)
  return [code(option.flags), fallback, `${plain(option.description)}${choices}`]
}

function toDefault(value: unknown, words: string | undefined): string {
  if (words !== undefined) return plain(words)
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  return code(typeof value === 'string' ? value : JSON.stringify(value))
}

/** What the help says after its lists. */
export function afterHelp(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: more => (text += more) }).outputHelp()
  return text.slice(text.indexOf(command.helpInformation()) + command.helpInformation().length).trim()
}

/** Command lines of its examples. */
export function examplesOf(command: Command): readonly string[] {
  return afterHelp(command)
    .split('\n')
    .flatMap(line => (line.startsWith('  $ ') ? [line.slice(4)] : []))
}

function toExamples(command: Command): readonly string[] {
  const examples = examplesOf(command)
  const rest = afterHelp(command)
    .split('\n')
    .filter(line => line.trim() !== '' && line !== 'Examples:' && !line.startsWith('  $ '))
  return [
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``]),
    ...(rest.length === 0 ? [] : [plain(rest.join('\n'))]),
  ]
}
