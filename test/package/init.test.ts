/** What someone does who has just installed the package: a new environment, its tests and types, and the program of docs/embedding.md around it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { TEMPLATES } from '../../src/scaffold/templates.ts'
import { resultOf } from '../support/cli.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { type Packed, packAndInstall } from './packed.ts'

const test = suite('a new environment from the package')
const run = promisify(execFile)

let packed: Packed
test.before(async () => {
  packed = await packAndInstall()
  for (const template of Object.keys(TEMPLATES)) await packed.troupeIn('.', 'init', template, '--template', template)
})
test.after(() => packed.remove())

for (const template of Object.keys(TEMPLATES)) {
  test(`${template}: every task is graded 1 by its agent, 0 by one that does nothing`, async () => {
    for (const [agent, reward] of [
      ['agent.ts', 1],
      ['scripted', 0],
    ] as const) {
      const report = await packed.troupeIn(template, 'eval', '.', agent, '--all', '--quiet', '--json', '--no-journal')
      const { runs, meanReward } = resultOf(report)
      assert.ok(runs.planned >= 4)
      assert.equal([runs.graded, meanReward], [runs.planned, reward])
    }
  })

  test(`${template}: its own test passes`, async () => {
    const { scripts } = JSON.parse(readFileSync(join(packed.project, template, 'package.json'), 'utf8'))
    const [command, ...argv] = scripts.test.split(' ')
    assert.is(command, 'node')
    const output = await packed.nodeIn(template, ...argv)
    assert.match(output, /^(#|ℹ) fail 0$/m)
    assert.match(output, /^(#|ℹ) pass (?!0$)\d+$/m)
  })

  test(`${template}: its types check`, async () => {
    const compiler = join(repository, 'node_modules/.bin/tsc')
    const ended = await run(compiler, [], { cwd: join(packed.project, template) }).catch(error => error)
    assert.is(ended.stdout, '')
  })
}

test('the program of docs/embedding.md has fewer than 20 lines, and prints what the page says', async () => {
  const [commands = '', program = '', printed = ''] = fencesOf('docs/embedding.md', ['sh', 'js', 'text'])
  assert.ok(program.split('\n').length < 20, `${program.split('\n').length} lines`)
  const [install, init = '', start = ''] = commands.trim().split('\n')
  assert.is(install, 'npm install troupe')
  const [npx, troupe, ...argv] = init.split(' ')
  assert.equal([npx, troupe], ['npx', 'troupe'])
  await packed.troupeIn('.', ...argv)
  const [node, file = ''] = start.split(' ')
  assert.is(node, 'node')
  await packed.write(file, program)
  // Groups come as they end: only the order may differ.
  const lines = (text: string) => text.trim().split('\n').sort()
  assert.equal(lines(await packed.node(file)), lines(printed))
})

/** The first blocks of a page in these languages. */
function fencesOf(page: string, languages: readonly string[]): readonly string[] {
  const text = readFileSync(join(repository, page), 'utf8')
  const fences = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
  return languages.map(language => fences.find(([, each]) => each === language)?.[2] ?? '')
}

test.run()
