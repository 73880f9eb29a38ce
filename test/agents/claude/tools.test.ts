import * as assert from 'uvu/assert'
import type { ToolResult } from '../../../src/agents/chat/tools/index.ts'
import { editor, makeBash } from '../../../src/agents/claude/tools/index.ts'
import { makePlainWorkspace, type PlainWorkspace } from '../../support/plain-workspace.ts'
import { suite } from '../../support/suite.ts'

const test = suite('native tools of the Claude agent')

type Use = (given: Readonly<Record<string, unknown>>) => Promise<ToolResult>

async function withWorkspace(body: (bash: Use, edit: Use, workspace: PlainWorkspace) => Promise<void>): Promise<void> {
  const workspace = await makePlainWorkspace()
  const place = { shell: workspace.shell, signal: new AbortController().signal }
  const bash = makeBash()
  try {
    await body(
      given => bash.run(given, place),
      given => editor.run(given, place),
      workspace,
    )
  } finally {
    await workspace.close()
  }
}

const done = (text: string): ToolResult => ({ type: 'done', text })
const failed = (text: string): ToolResult => ({ type: 'failed', text })

test('bash goes on where the last command ended, exit or not, and begins anew when it is told to', () =>
  withWorkspace(async (bash, _edit, workspace) => {
    await workspace.write('sub/deep/x', '')
    assert.equal(await bash({ command: 'cd sub; echo out; echo err >&2' }), done('out\nerr\n'))
    assert.equal(await bash({ command: 'ls' }), done('deep\n'))
    assert.equal(await bash({ command: 'cd deep && exit 3' }), failed('exit status 3'))
    assert.equal(await bash({ command: 'ls; false' }), failed('x\nexit status 1'))
    assert.is((await bash({ restart: true })).type, 'done')
    assert.equal(await bash({ command: 'ls' }), done('sub\n'))
    assert.is((await bash({})).type, 'malformed')
  }))

test('bash survives a directory that is gone', () =>
  withWorkspace(async (bash, _edit, workspace) => {
    await workspace.write('sub/x', '')
    await bash({ command: 'cd sub' })
    await workspace.remove('sub')
    assert.equal(await bash({ command: 'ls -A' }), done(''))
  }))

test('the editor numbers lines, and lists directories two levels deep', () =>
  withWorkspace(async (_bash, edit, workspace) => {
    await workspace.write('a/b/c/d', '')
    await workspace.write('a/.hidden', '')
    await workspace.write('f', 'one\ntwo\nthree')
    assert.equal(await edit({ command: 'view', path: 'f' }), done('     1\tone\n     2\ttwo\n     3\tthree'))
    assert.equal(await edit({ command: 'view', path: 'f', view_range: [2, -1] }), done('     2\ttwo\n     3\tthree'))
    assert.is((await edit({ command: 'view', path: 'f', view_range: [9, 10] })).type, 'failed')
    assert.equal(await edit({ command: 'view', path: 'a' }), done('a\na/b\na/b/c\n'))
    assert.match((await edit({ command: 'view', path: 'gone' })).text, /^error: cannot read gone/)
  }))

test('the editor creates, replaces what stands once, and inserts after a line', () =>
  withWorkspace(async (_bash, edit, workspace) => {
    assert.is((await edit({ command: 'create', path: 'n/f', file_text: 'x = 1\nx = 1\ny = $&\n' })).type, 'done')
    const replace = (old_str: string, new_str?: string) =>
      edit({ command: 'str_replace', path: 'n/f', old_str, ...(new_str === undefined ? {} : { new_str }) })
    assert.match((await replace('x = 1', 'x = 2')).text, 'occurs 2 times')
    assert.match((await replace('z')).text, 'does not occur')
    assert.is((await replace('y = $&', 'y = $1')).type, 'done')
    assert.is((await edit({ command: 'insert', path: 'n/f', insert_line: 1, insert_text: 'new\n' })).type, 'done')
    assert.is((await edit({ command: 'insert', path: 'n/f', insert_line: 0, insert_text: 'top' })).type, 'done')
    assert.is(await workspace.read('n/f'), 'top\nx = 1\nnew\nx = 1\ny = $1\n')
    assert.is((await edit({ command: 'insert', path: 'n/f', insert_line: 99, insert_text: 'x' })).type, 'failed')
    for (const given of [{ command: 'create' }, { command: 'str_replace' }, { command: 'insert' }, { command: 'undo' }])
      assert.is((await edit({ path: 'n/f', ...given })).type, 'malformed', JSON.stringify(given))
  }))

test.run()
