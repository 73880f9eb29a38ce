/** docs/reference is what the code says, and the examples of the help are command lines that can be parsed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import * as assert from 'uvu/assert'
import { examplesOf, leavesOf, makeCliReference, pathOf } from '../../docs/site/reference/cli.ts'
import { loadProgram, makeReference } from '../../docs/site/reference/make.ts'
import { VARIABLES } from '../../src/cli/variables.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('docs: reference')

test('both pages are what the code says', async () => {
  for (const [path, text] of Object.entries(await makeReference(repository)))
    assert.is(readFileSync(join(repository, path), 'utf8'), text, `${path} is out of date: npm run docs:reference`)
})

test('every command and option is in it, and one that is added is seen', async () => {
  const program = await loadProgram()
  const commands = leavesOf(program)
  assert.ok(commands.length > 25, `${commands.length} commands`)
  const text = makeCliReference(program)
  for (const command of commands) {
    assert.ok(text.includes(`## ${pathOf(command)}\n`), pathOf(command))
    for (const { flags, hidden } of command.options)
      if (!hidden) assert.ok(text.includes(`\`${flags}\``), `${pathOf(command)} ${flags}`)
  }
  program.command('new').description('Something new.').option('--wide <n>', 'how wide', '3')
  assert.match(
    makeCliReference(program),
    /## troupe new\n\n`troupe new \[options\]`\n\nSomething new\.\n\n.*\n.*\n\| `--wide <n>` \| `3` \| how wide \|/,
  )
})

test('every example of the help is a command line that the command takes', async () => {
  const program = await loadProgram()
  const commands = [program, ...leavesOf(program)]
  for (const each of leavesOf(program)) each.action(() => {}).exitOverride()
  const examples = commands.flatMap(examplesOf)
  assert.ok(examples.length > 50, `${examples.length} examples`)
  for (const example of examples.filter(each => /\btroupe /.test(each)))
    await parse(program, toArgv(example)).catch(error => {
      throw new Error(`${example}: ${error.message}`)
    })
  await parse(program, ['eval', 'tasks.ts', 'agent.ts', '--wide']).then(
    () => assert.unreachable(),
    error => assert.match(error.message, "unknown option '--wide'"),
  )
})

test('every environment variable that the sources read is listed, and no other', () => {
  const texts = ['src', 'actors'].flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts') && name !== 'cli/variables.ts')
      .map(name => readFileSync(join(repository, folder, name), 'utf8')),
  )
  const read = new Set(
    texts.flatMap(text =>
      [...text.matchAll(/(?:\b(?:env|variables)\.|Variable: '|_VARIABLE = ')([A-Z][A-Z_]+)\b/g)].map(
        ([, name = '']) => name,
      ),
    ),
  )
  // The system's own, which nobody sets for this package.
  for (const name of ['HOME', 'PATH', 'TERM', 'TMPDIR']) read.delete(name)
  assert.equal([...read].sort(), VARIABLES.map(({ name }) => name).sort())
})

const parse = (program: Command, argv: readonly string[]) => program.parseAsync([...argv], { from: 'user' })

/** The words after `troupe`, as a shell would part them, up to what is no argument: a comment, a pipe, a redirection. */
function toArgv(example: string): readonly string[] {
  const argv: string[] = []
  const line = example.slice(example.indexOf('troupe ') + 'troupe '.length)
  for (const [, single, double, bare] of line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
    if (bare !== undefined && /^[#|<>&]/.test(bare)) break
    argv.push(single ?? double ?? bare ?? '')
  }
  return argv
}

test.run()
