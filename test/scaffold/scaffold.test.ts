/** A new environment's files: what they are called, what they say, and what stays as it was. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readContext } from '../../src/runtimes/docker/image/context.ts'
import { findSpec, readOwnPackage } from '../../src/scaffold/own-package.ts'
import { scaffold } from '../../src/scaffold/scaffold.ts'
import { TEMPLATES, type TemplateName } from '../../src/scaffold/templates.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('scaffold')
const ALL = Object.keys(TEMPLATES) as readonly TemplateName[]
const read = (...path: readonly string[]) => readFile(join(...path), 'utf8')

for (const template of ALL) {
  test(`${template}: all that an environment has, under the name of its directory`, () =>
    withFiles({}, async directory => {
      const made = await scaffold(join(directory, 'My Orders!'), { template })
      assert.is(made.name, 'my-orders')
      assert.equal((await readdir(made.directory)).sort(), [...made.files].sort())
      for (const name of ['.dockerignore', '.gitignore', 'Dockerfile.hud', 'README.md', 'agent.ts', 'env.test.ts'])
        assert.ok(made.files.includes(name), name)
      for (const name of made.files) assert.not.match(await read(made.directory, name), 'my-environment')
      assert.match(await read(made.directory, 'env.ts'), `new Environment('my-orders'`)
      const manifest = JSON.parse(await read(made.directory, 'package.json'))
      assert.equal([manifest.name, manifest.private, manifest.type], ['my-orders', true, 'module'])
      assert.equal(manifest.dependencies, { troupe: made.spec })
      for (const range of Object.values(manifest.devDependencies)) assert.match(String(range), /^\^\d+\.\d+\.\d+$/)
    }))

  test(`${template}: what its Dockerfile copies is sent to be built, and is all that its environment imports`, () =>
    withFiles({}, async directory => {
      await scaffold(directory, { template, name: 'one' })
      await mkdir(join(directory, 'node_modules'))
      const path = join(directory, 'Dockerfile.hud')
      const source = { kind: 'dockerfile', path, context: directory, inContext: 'Dockerfile.hud', name: 'one' } as const
      const { paths } = await readContext(source)
      const sources = (await readdir(directory)).filter(name => /^(?!agent\.|.*\.test\.).*\.ts$/.test(name))
      assert.equal(paths, ['Dockerfile.hud', ...sources, 'package.json'].sort())
      for (const name of sources)
        for (const [, imported = ''] of (await read(directory, name)).matchAll(/ from '\.\/(.+)'/g))
          assert.ok(paths.includes(imported), `${name} imports ${imported}`)
    }))
}

test('a directory with files is refused by their names, and nothing is written', () =>
  withFiles({ 'notes.txt': 'mine', 'env.ts': 'mine too' }, async directory => {
    await assertRejects(scaffold(directory, { template: 'shell' }), 'directory-not-empty', /env\.ts, notes\.txt/)
    assert.equal((await readdir(directory)).sort(), ['env.ts', 'notes.txt'])
  }))

test('--force replaces files of the same name, tells which, and leaves the others alone', () =>
  withFiles({ 'notes.txt': 'mine', 'env.ts': 'mine too' }, async directory => {
    const { replaced } = await scaffold(directory, { template: 'question', name: 'one', force: true })
    assert.equal(replaced, ['env.ts'])
    assert.is(await read(directory, 'notes.txt'), 'mine')
    assert.match(await read(directory, 'env.ts'), `new Environment('one'`)
  }))

test('a repository that was just made is empty', () =>
  withFiles({ '.git/HEAD': 'ref: refs/heads/main' }, async directory => {
    const { files } = await scaffold(directory, { template: 'question', name: 'one' })
    assert.ok(files.includes('env.ts'))
  }))

test('a name that cannot be a package, and a place that is a file, are refused', () =>
  withFiles({ file: '' }, async directory => {
    for (const name of ['', 'Up', '-x', 'a b', '../x', 'x'.repeat(101)])
      await assertRejects(
        scaffold(join(directory, 'new'), { template: 'shell', name }),
        'bad-environment-name',
        /--name/,
      )
    await assertRejects(scaffold(join(directory, '日本'), { template: 'shell' }), 'bad-environment-name', /--name/)
    await assertRejects(scaffold(join(directory, 'file'), { template: 'shell', name: 'one' }), 'not-a-directory')
    await assertRejects(
      scaffold(join(directory, 'file', 'deeper'), { template: 'shell', name: 'one' }),
      'not-a-directory',
      /deeper/,
    )
    assert.equal(await readdir(directory), ['file'])
  }))

test('what cannot be written is named', () =>
  withFiles({ 'env.ts/inside.txt': '' }, async directory => {
    const forced = scaffold(directory, { template: 'question', name: 'one', force: true })
    await assertRejects(forced, 'scaffold-not-written', /env\.ts/)
  }))

test('npm is asked for what is running: the clone, a tarball that was installed, or else the version', () =>
  withFiles({}, async directory => {
    const own = readOwnPackage()
    assert.is(`${join(own.root)}/`, join(repository, '/'))
    assert.is(findSpec({ root: '/a/clone', version: '1.2.3' }, '/a/new/env'), 'file:../../clone')
    const installed = { root: join(directory, 'node_modules/troupe'), version: '1.2.3' }
    assert.is(findSpec(installed, join(directory, 'env')), '^1.2.3')
    await mkdir(installed.root, { recursive: true })
    const note = join(directory, 'node_modules/.package-lock.json')
    const noteOf = (entry: object) => writeFile(note, JSON.stringify({ packages: { 'node_modules/troupe': entry } }))
    await noteOf({ version: '1.2.3', resolved: 'file:../troupe-1.2.3.tgz' })
    assert.is(findSpec(installed, join(directory, 'env')), 'file:../../troupe-1.2.3.tgz')
    await noteOf({ version: '1.2.3' })
    assert.is(findSpec(installed, join(directory, 'env')), '^1.2.3')
  }))

test.run()
