import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli help')

test('each command has help with examples, on stdout and with exit status 0', async () => {
  for (const command of [
    '',
    'eval',
    'serve',
    'task list',
    'task start',
    'task grade',
    'runs',
    'show',
    'explain',
    'export',
  ]) {
    const argv = command.split(' ').filter(word => word !== '')
    const { exitCode, stdout, stderr } = await troupe([...argv, '--help'])
    assert.equal([exitCode, stderr], [0, ''], command)
    assert.match(stdout, `Usage: ${['troupe', ...argv].join(' ')}`)
    assert.match(stdout, 'Examples:\n  $ troupe ')
  }
})

test('`troupe help eval` is the help of eval, and the version is a number', async () => {
  assert.match((await troupe(['help', 'eval'])).stdout, '--max-concurrent <n>')
  const { exitCode, stdout } = await troupe(['--version'])
  assert.is(exitCode, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('the help of the program lists the environment variables', async () => {
  const { stdout } = await troupe(['--help'])
  assert.match(stdout, /^Environment variables:\n(.*\n)*? {2}DAYTONA_API_KEY +the daytona runtime/m)
})

test('without a command the help goes to stderr, and nothing was done', async () => {
  const { exitCode, stdout, stderr } = await troupe([])
  assert.equal([exitCode, stdout], [2, ''])
  assert.match(stderr, 'Usage: troupe')
})

test.run()
