import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeDirectoryFiles } from '../../../src/environment/workspace/directory.ts'
import { toComponents } from '../../../src/environment/workspace/paths.ts'
import { TroupeError } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'

const test = suite('workspace files')
const base = mkdtempSync(join(tmpdir(), 'troupe-files-'))
const directory = join(base, 'session')
const outside = join(base, 'outside')
const files = makeDirectoryFiles({ directory, root: '/workspace', owner: undefined, maxFileBytes: 1_000 })

test.beforeEach(() => {
  for (const path of [directory, outside]) {
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path)
  }
  writeFileSync(join(outside, 'secret'), 'secret')
})
test.after(() => rmSync(base, { recursive: true }))

const tagOf = (body: () => unknown): string => {
  try {
    body()
  } catch (error) {
    return error instanceof TroupeError ? error.tag : String(error)
  }
  return 'nothing thrown'
}

test('files are written, with their directories, read and removed', () => {
  files.write('a/b/c.txt', 'one')
  files.write('/workspace/a/b/./c.txt', Buffer.from('two'))
  assert.is(files.read('a/x/../b/c.txt').toString(), 'two')
  files.remove('a')
  assert.is(existsSync(join(directory, 'a')), false)
  files.remove('a/b/c.txt')
})

test('paths that leave the workspace are refused in every spelling', () => {
  for (const path of [
    '../outside/secret',
    'a/../../outside/secret',
    '/etc/passwd',
    '/workspace/../etc/passwd',
    '/workspaces/x',
    '.',
    '',
    '/workspace',
    'a\0b',
  ]) {
    assert.is(
      tagOf(() => files.read(path)),
      'path-refused',
      path,
    )
    assert.is(
      tagOf(() => files.write(path, '')),
      'path-refused',
      path,
    )
    assert.is(
      tagOf(() => files.remove(path)),
      'path-refused',
      path,
    )
  }
})

test('symbolic links are followed nowhere: not as a file, not as a directory on the way', () => {
  symlinkSync(join(outside, 'secret'), join(directory, 'link'))
  symlinkSync(outside, join(directory, 'dir'))
  symlinkSync('../outside/new', join(directory, 'dangling'))
  for (const path of ['link', 'dir/secret', 'dangling']) {
    assert.match(
      tagOf(() => files.read(path)),
      /path-refused|file-not-read/,
      path,
    )
    assert.match(
      tagOf(() => files.write(path, 'mine')),
      /path-refused|file-not-written/,
      path,
    )
  }
  assert.match(
    tagOf(() => files.remove('dir/secret')),
    /path-refused|file-not-removed/,
  )
  assert.is(readFileSync(join(outside, 'secret'), 'utf8'), 'secret')
  assert.is(existsSync(join(outside, 'new')), false)
  files.remove('dir')
  files.remove('link')
  assert.is(existsSync(join(outside, 'secret')), true)
})

test('removing a directory removes the links in it, not what they point to', () => {
  files.write('tree/deep/file', 'x')
  symlinkSync(outside, join(directory, 'tree', 'deep', 'up'))
  chmodSync(join(directory, 'tree', 'deep'), 0o500)
  files.remove('tree')
  assert.is(existsSync(join(outside, 'secret')), true)
  assert.is(existsSync(join(directory, 'tree')), false)
})

test('what is not there, not a file or too large is told by name', () => {
  mkdirSync(join(directory, 'sub'))
  assert.is(
    tagOf(() => files.read('missing')),
    'file-not-read',
  )
  assert.is(
    tagOf(() => files.read('sub')),
    'file-not-read',
  )
  assert.is(
    tagOf(() => files.write('sub', '')),
    'file-not-written',
  )
  assert.is(
    tagOf(() => files.write('big', 'x'.repeat(1_001))),
    'file-too-large',
  )
  writeFileSync(join(directory, 'huge'), 'x'.repeat(2_000))
  assert.is(
    tagOf(() => files.read('huge')),
    'file-too-large',
  )
})

test('no path resolves to a component that climbs', () => {
  const part = fc.constantFrom('..', '.', '', 'a', 'workspace', '/')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, absolute) => {
      const path = `${absolute ? '/' : ''}${parts.join('/')}`
      try {
        const components = toComponents(path, '/workspace')
        return components.length > 0 && components.every(name => !['', '.', '..'].includes(name))
      } catch (error) {
        return error instanceof TroupeError && error.tag === 'path-refused'
      }
    }),
  )
})

test.run()
