import * as assert from 'uvu/assert'
import { parseServeArguments } from '../../src/environment/serve-arguments.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('arguments of an environment host')

test('a path alone serves on the default port of this machine', () => {
  assert.equal(parseServeArguments(['env.ts']), {
    settings: { path: 'env.ts', listen: { kind: 'tcp', host: '127.0.0.1', port: 8765 }, isolation: { limits: {} } },
    exitWithParent: false,
  })
})

test('each option arrives where it belongs', () => {
  const argv = [
    'env.ts',
    '--socket',
    '/run/x.sock',
    '--env',
    'a',
    '--isolation',
    'none',
    '--network',
    '--exit-with-parent',
  ]
  const numbers = [
    '--cpu-seconds',
    '1',
    '--memory-bytes',
    '2',
    '--processes',
    '3',
    '--file-bytes',
    '4',
    '--disk-bytes',
    '6',
    '--max-commands',
    '5',
  ]
  assert.equal(parseServeArguments([...argv, ...numbers, '--base-directory', '/var/w']), {
    settings: {
      path: 'env.ts',
      env: 'a',
      listen: { kind: 'unix', path: '/run/x.sock' },
      isolation: {
        isolation: 'none',
        network: true,
        limits: { cpuSeconds: 1, memoryBytes: 2, processes: 3, fileBytes: 4, diskBytes: 6 },
        maxCommands: 5,
      },
      baseDirectory: '/var/w',
    },
    exitWithParent: true,
  })
})

test('who may come in is said by a file or by --insecure, never by the token itself', () => {
  const { settings, tokenFile } = parseServeArguments([
    'env.ts',
    '--host',
    '0.0.0.0',
    '--insecure',
    '--token-file',
    't',
  ])
  assert.equal([settings.insecure, tokenFile, 'token' in settings], [true, 't', false])
  assert.throws(() => parseServeArguments(['env.ts', '--token', 'abc']), /--token/)
})

test('what makes no sense is refused in words', () => {
  for (const argv of [
    [],
    ['a', 'b'],
    ['a', '--port', 'x'],
    ['a', '--port', '70000'],
    ['a', '--isolation', 'jail'],
    ['a', '--what'],
  ]) {
    try {
      parseServeArguments(argv)
      assert.unreachable(argv.join(' '))
    } catch (error) {
      assert.ok(hasTag(error, 'bad-serve-option'), String(error))
    }
  }
})

test.run()
