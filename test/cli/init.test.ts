/** `troupe init`, and then what it says to run next. What needs an installed package is in test/package. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { TEMPLATES } from '../../src/scaffold/templates.ts'
import { resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('cli init')

/** As if npx had not called it, whoever runs the tests. */
const variables = { npm_command: '' }

async function evaluate(cwd: string, agent: string) {
  const argv = ['eval', '.', agent, '--all', '--group', '2', '--quiet', '--json', '--threads', '1', '--no-journal']
  const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
  assert.is(exitCode, 0, stderr)
  const { runs, meanReward } = resultOf(stdout)
  assert.ok(runs.planned >= 8)
  assert.is(runs.graded, runs.planned)
  return meanReward
}

for (const template of Object.keys(TEMPLATES))
  test(
    `${template}: asks nothing, says what to run next, and every task is graded 1 by its agent and 0 by one that does nothing`,
    () =>
      withFiles({}, async directory => {
        const made = await troupe(['init', 'my-env', '--template', template], { cwd: directory, variables })
        assert.is(made.exitCode, 0, made.stderr)
        assert.match(made.stdout, /^my-env: .*\n {2}\.dockerignore\n/)
        assert.match(made.stdout, /Next:\n {2}cd my-env\n {2}troupe eval \. agent\.ts --all/)
        const cwd = join(directory, 'my-env')
        assert.is(await evaluate(cwd, 'agent.ts'), 1)
        assert.is(await evaluate(cwd, 'scripted'), 0)
      }),
    { deadlineMs: 60_000 },
  )

test('a place with files is refused with status 2, by their names and with what to do', () =>
  withFiles({ 'notes.txt': '' }, async cwd => {
    const { exitCode, stdout, stderr } = await troupe(['init'], { cwd })
    assert.equal([exitCode, stdout], [2, ''])
    assert.match(stderr, /notes\.txt.*--force/)
  }))

test('a template that is not there is refused with those that are', () =>
  withFiles({}, async cwd => {
    const { exitCode, stderr } = await troupe(['init', '--template', 'robot'], { cwd })
    assert.is(exitCode, 2)
    assert.match(stderr, /shell, question/)
  }))

test('what npx has called is called by npx again', () =>
  withFiles({}, async directory => {
    const options = { cwd: directory, variables: { npm_command: 'exec' } }
    const { stdout } = await troupe(['init', 'letters', '--template', 'question'], options)
    assert.match(stdout, /Next:\n {2}cd letters\n {2}npx troupe eval/)
  }))

test('in the directory itself there is nowhere to go, and a clone that an image cannot reach is told', () =>
  withFiles({}, async directory => {
    const cwd = join(directory, 'here')
    await mkdir(cwd)
    const { exitCode, stdout, stderr } = await troupe(['init', '.', '--name', 'other'], { cwd })
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /^other: /)
    assert.not.match(stdout, 'cd ')
    assert.match(stderr, /as file:.*--runtime docker/)
  }))

test.run()
