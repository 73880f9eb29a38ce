import * as assert from 'uvu/assert'
import { chatTools, type ToolName, type ToolResult, toolsByName } from '../../../src/agents/chat/tools/index.ts'
import { TroupeError } from '../../../src/errors.ts'
import type { Shell } from '../../../src/wire/shell.ts'
import { makePlainWorkspace, type PlainWorkspace } from '../../support/plain-workspace.ts'
import { suite } from '../../support/suite.ts'

const test = suite('tools of the chat agent')

const signal = new AbortController().signal

type Use = (name: ToolName, given: unknown) => Promise<ToolResult>

async function withFiles(
  files: Readonly<Record<string, string>>,
  body: (use: Use, workspace: PlainWorkspace) => Promise<void>,
): Promise<void> {
  const workspace = await makePlainWorkspace()
  try {
    for (const [path, text] of Object.entries(files)) await workspace.write(path, text)
    await body((name, given) => use(name, given, workspace.shell), workspace)
  } finally {
    await workspace.close()
  }
}

function use(name: ToolName, given: unknown, shell: Shell): Promise<ToolResult> {
  const tool = toolsByName().get(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool.run(given, { shell, signal })
}

const done = (text: string): ToolResult => ({ type: 'done', text })
const failed = (text: string): ToolResult => ({ type: 'failed', text })

test('models are offered them under the names and parameters that they know, in a fixed order', () => {
  assert.equal(
    chatTools().map(({ function: { name, parameters } }) => [
      name,
      Object.keys(parameters.properties),
      parameters.required,
    ]),
    [
      ['bash', ['command', 'timeout', 'workdir'], ['command']],
      ['read', ['filePath', 'offset', 'limit'], ['filePath']],
      ['write', ['filePath', 'content'], ['filePath', 'content']],
      ['edit', ['filePath', 'oldString', 'newString', 'replaceAll'], ['filePath', 'oldString', 'newString']],
      ['glob', ['pattern', 'path'], ['pattern']],
      ['grep', ['pattern', 'path', 'include'], ['pattern']],
    ],
  )
  assert.equal(
    chatTools(['edit', 'bash']).map(tool => tool.function.name),
    ['bash', 'edit'],
  )
  const [{ function: bash } = { function: undefined }] = chatTools(['bash'])
  assert.equal(Object.keys(bash?.parameters ?? {}), ['type', 'properties', 'required'])
  assert.equal(bash?.parameters.properties.timeout, {
    description: 'Milliseconds it may take, 120000 by default.',
    type: 'integer',
    minimum: 1,
  })
})

test('bash gives what was put out, and the status of a command that failed', () =>
  withFiles({ 'sub/x': '' }, async use => {
    assert.equal(await use('bash', { command: 'echo out; echo err >&2' }), done('out\nerr\n'))
    assert.equal(await use('bash', { command: 'printf half; exit 3' }), failed('half\nexit status 3'))
    assert.equal(await use('bash', { command: 'false' }), failed('exit status 1'))
    assert.equal(await use('bash', { command: 'ls', workdir: 'sub' }), done('x\n'))
    assert.equal(await use('bash', { command: 'false; basename "$PWD" # comment', workdir: 'sub' }), done('sub\n'))
    assert.match((await use('bash', { command: 'ls', workdir: 'gone' })).text, /gone.*\nexit status 1$/s)
    assert.match((await use('bash', { command: 'sleep 20', timeout: 50 })).text, /^error: /)
  }))

test('long output loses its middle, and says how much', () =>
  withFiles({}, async use => {
    const { text } = await use('bash', { command: 'echo first; yes 1234567 | head -n 20000; echo last' })
    assert.ok(text.length < 51_000, String(text.length))
    assert.match(text, /^first\n/)
    assert.match(text, /\n\[\d+ characters left out\]\n/)
    assert.match(text, /last\n$/)
  }))

test('read gives the lines asked for, as they are in the file and nothing beside', () =>
  withFiles({ f: 'one\n\n  three\r\nfour', empty: '' }, async use => {
    const read = (given: object) => use('read', { filePath: 'f', ...given })
    assert.equal(await read({}), done('one\n\n  three\r\nfour'))
    assert.equal(await read({ offset: 2, limit: 2 }), done('\n  three\r\n'))
    assert.equal(await read({ offset: 4 }), done('four'))
    assert.equal(await read({ offset: 0, limit: 1 }), done('one\n'))
    assert.equal(await read({ offset: 4, limit: 9 }), done('four'))
    assert.equal(await read({ offset: 5 }), failed('error: offset 5 is past the end: the file has 4 lines'))
    assert.equal(await use('read', { filePath: 'empty' }), done(''))
    const missing = await use('read', { filePath: 'gone' })
    assert.equal(missing, failed('error: cannot read gone'))
  }))

test('read says where to go on when it was not asked to stop, and only then', () => {
  const lines = Array.from({ length: 4_500 }, (_, index) => `${index + 1}\n`)
  const long = 'x'.repeat(60_000)
  return withFiles({ many: lines.join(''), long, wide: `${'y'.repeat(30_000)}\n`.repeat(3) }, async use => {
    const first = await use('read', { filePath: 'many' })
    assert.is(first.text, `${lines.slice(0, 2_000).join('')}[lines 1 to 2000 of 4500; go on with offset 2001]`)
    assert.match(
      (await use('read', { filePath: 'many', offset: 2_001 })).text,
      /\[lines 2001 to 4000 of 4500; .*4001\]$/,
    )
    assert.is((await use('read', { filePath: 'many', offset: 4_001 })).text, lines.slice(4_000).join(''))
    assert.is((await use('read', { filePath: 'many', limit: 3_000 })).text, lines.slice(0, 3_000).join(''))
    assert.match(
      (await use('read', { filePath: 'long' })).text,
      /^x{50000}\n\[10000 characters of this line left out\]\n$/,
    )
    const wide = await use('read', { filePath: 'wide' })
    assert.match(wide.text, /^y{30000}\n\[lines 1 to 1 of 3; go on with offset 2\]$/)
  })
})

test('write and edit answer ok, and edit only changes what it was told exactly', () =>
  withFiles({}, async (use, workspace) => {
    assert.equal(await use('write', { filePath: 'a/b.txt', content: 'x = 1\nx = 1\ny = $&\n' }), done('ok'))
    const edit = (oldString: string, newString: string, rest = {}) =>
      use('edit', { filePath: 'a/b.txt', oldString, newString, ...rest })
    assert.equal(await edit('z', 'w'), failed('error: oldString not found'))
    assert.equal(
      await edit('x = 1', 'x = 2'),
      failed('error: oldString occurs 2 times; give more context or set replaceAll'),
    )
    assert.equal(await edit('', 'w'), failed('error: oldString is empty; use write for a whole file'))
    assert.equal(await edit('y', 'y'), failed('error: oldString and newString are the same'))
    assert.is(await workspace.read('a/b.txt'), 'x = 1\nx = 1\ny = $&\n')
    assert.equal(await edit('y = $&', 'y = $1$&'), done('ok'))
    assert.equal(await edit('x = 1', '', { replaceAll: true }), done('ok'))
    assert.is(await workspace.read('a/b.txt'), '\n\ny = $1$&\n')
    assert.match(
      (await use('edit', { filePath: 'gone', oldString: 'a', newString: 'b' })).text,
      /^error: cannot read gone/,
    )
  }))

test('glob lists files by pattern, sorted, a path a line', () =>
  withFiles(
    { 'a.py': '', 'b.js': '', 'src/c.py': '', 'src/deep/d.py': '', 'src/e f.ts': '', '.git/x.py': '' },
    async use => {
      const glob = (pattern: string, path?: string) => use('glob', { pattern, path })
      assert.equal(await glob('*.py'), done('a.py\nsrc/c.py\nsrc/deep/d.py'))
      assert.equal(await glob('src/*.py'), done('src/c.py'))
      assert.equal(await glob('**/*.{js,ts}'), done('b.js\nsrc/e f.ts'))
      assert.equal(await glob('*.py', 'src/'), done('src/c.py\nsrc/deep/d.py'))
      assert.equal(await glob('*.md'), done('no match'))
      assert.equal(await glob('$(touch pwned)'), done('no match'))
      assert.equal(await glob("it's*"), done('no match'))
    },
  ))

test('grep gives path, line and text of each match, sorted', () =>
  withFiles(
    { 'b.py': 'x\ndef one():\n', 'a.py': 'def two():\n', 'c.txt': "def it's\n", '.git/y': 'def\n' },
    async use => {
      assert.equal(
        await use('grep', { pattern: 'def \\w+' }),
        done("a.py:1:def two():\nb.py:2:def one():\nc.txt:1:def it's"),
      )
      assert.equal(await use('grep', { pattern: 'def', include: '*.txt' }), done("c.txt:1:def it's"))
      assert.equal(await use('grep', { pattern: "it's", path: 'c.txt' }), done("c.txt:1:def it's"))
      assert.equal(await use('grep', { pattern: '-x' }), done('no match'))
      assert.match((await use('grep', { pattern: '(' })).text, /^error: .*grep/)
      assert.match((await use('grep', { pattern: 'x', path: 'gone' })).text, /^error: .*gone/)
    },
  ))

test('arguments that do not fit are told apart from a failure, by name; more than is known does no harm', () =>
  withFiles({ f: 'x' }, async use => {
    assert.equal(await use('read', { filePath: 5, offset: 'a' }), {
      type: 'malformed',
      text: 'error: filePath: Invalid input: expected string, received number; offset: Invalid input: expected number, received string',
    })
    assert.is((await use('edit', {})).type, 'malformed')
    assert.equal(await use('read', { filePath: 'f', why: 'to see' }), done('x'))
  }))

test('a workspace that is gone is nothing to tell a model', async () => {
  const workspace = await makePlainWorkspace()
  await workspace.close()
  const lost = new TroupeError({ tag: 'shell-lost', message: 'cut' })
  const shell: Shell = { ...workspace.shell, exec: () => Promise.reject(lost), readFile: () => Promise.reject(lost) }
  for (const [name, given] of [
    ['bash', { command: 'ls' }],
    ['read', { filePath: 'f' }],
    ['edit', { filePath: 'f', oldString: 'a', newString: 'b' }],
    ['grep', { pattern: 'x' }],
  ] as const)
    assert.is(await use(name, given, shell).catch((error: unknown) => error), lost)
})

test.run()
