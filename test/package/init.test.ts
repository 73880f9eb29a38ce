/** What someone does who has just installed the package: a new environment, its tests and types. `test/docs` runs the program of docs/embedding.md around it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { readPage } from '../../docs/site/page.ts'
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

  test(`${template}: its README shows these commands, and no other`, () => {
    const text = readFileSync(join(packed.project, template, 'README.md'), 'utf8')
    const [{ text: block } = { text: '' }, ...others] = readPage('README.md', text).blocks
    assert.equal(others, [])
    const commands = block
      .trim()
      .split('\n')
      .map(line => line.replace(/ +#.*/, '').replace(/ play \. \S+$/, ' play . TASK'))
    assert.equal(commands, [
      'npm install',
      'npx troupe eval . agent.ts --all',
      'npx troupe eval . scripted --all',
      'npx troupe play . TASK',
      'npm test',
      'npm run check',
    ])
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

test.run()
