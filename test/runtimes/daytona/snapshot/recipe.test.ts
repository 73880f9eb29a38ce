import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Image } from '@daytonaio/sdk'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hashRecipe, readRecipe } from '../../../../src/runtimes/daytona/snapshot/recipe.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { withFiles } from '../../../support/temporary-directory.ts'

const test = suite('the recipe of a snapshot')

const FILES = {
  Dockerfile: 'FROM node:22\nCOPY one.txt src ./\nCMD ["serve"]\n',
  'one.txt': 'one',
  'src/a.ts': 'a',
  'src/deep/b.ts': 'b',
}

const hashIn = async (directory: string, resources = {}, region?: string) =>
  hashRecipe(await readRecipe(join(directory, 'Dockerfile')), resources, region)

test('equal files have equal hashes wherever they lie', async () => {
  const hashes = [await withFiles(FILES, hashIn), await withFiles(FILES, hashIn)]
  assert.match(hashes[0] ?? '', /^[0-9a-f]{12}$/)
  assert.is(hashes[0], hashes[1])
})

test('whatever is built into it changes the hash, and what is not copied does not', () =>
  withFiles(FILES, async directory => {
    const at = (name: string) => join(directory, name)
    const seen = new Set([await hashIn(directory)])
    const isNew = async (change: () => Promise<unknown>, what: string, hash = () => hashIn(directory)) => {
      await change()
      const now = await hash()
      assert.not.ok(seen.has(now), what)
      seen.add(now)
    }
    await isNew(() => writeFile(at('src/deep/b.ts'), 'c'), 'content')
    await isNew(() => chmod(at('src/a.ts'), 0o755), 'executable')
    await isNew(() => writeFile(at('src/.hidden'), ''), 'an empty file')
    await isNew(() => mkdir(at('src/empty')), 'an empty directory')
    await isNew(() => symlink('a.ts', at('src/link')), 'a link')
    await isNew(async () => {
      await rm(at('src/link'))
      await symlink('b.ts', at('src/link'))
    }, "a link's target")
    await isNew(() => writeFile(at('Dockerfile'), `${FILES.Dockerfile}# changed\n`), 'the Dockerfile')
    await isNew(
      async () => {},
      'resources',
      () => hashIn(directory, { cpu: 2 }),
    )
    await isNew(
      async () => {},
      'the region',
      () => hashIn(directory, {}, 'eu'),
    )
    const before = await hashIn(directory)
    await writeFile(at('other.txt'), 'not copied')
    await chmod(at('src/deep/b.ts'), 0o600)
    assert.is(await hashIn(directory), before)
  }))

test('content never passes for another path, or for a longer file', () =>
  fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), fc.string(), fc.string(), async (a, b, c, d) => {
      const hash = (one: string, two: string) =>
        withFiles({ Dockerfile: 'FROM x:1\nCOPY one two ./\n', one, two }, directory => hashIn(directory))
      const isSame = (await hash(a, b)) === (await hash(c, d))
      assert.is(isSame, a === c && b === d)
    }),
    { numRuns: 25, examples: [['ab', 'c', 'a', 'bc']] },
  ))

test('a Dockerfile that is not there is named', async () => {
  const error = await assertRejects(readRecipe('/nowhere/Dockerfile.hud'), 'dockerfile-missing')
  assert.match(error.message, /\/nowhere\/Dockerfile\.hud/)
})

test('all sources that are not there are named with their lines, and why they are not', () =>
  withFiles(
    {
      Dockerfile: [
        'FROM node:22',
        'COPY here.txt gone.txt ./',
        'COPY nothing/*.ts ./',
        'COPY ../outside ./',
        'COPY /here.txt ./',
        'ADD here.txt added.txt ./',
        'COPY --from=0 /not/here ./',
        'ADD https://example.com/file ./',
      ].join('\n'),
      'here.txt': '',
      'added.txt': '',
    },
    async directory => {
      const error = await assertRejects(readRecipe(join(directory, 'Dockerfile')), 'dockerfile-copies-missing')
      for (const line of [
        /line 2: COPY gone\.txt$/m,
        /line 3: COPY nothing\/\*\.ts \(.*patterns/,
        /line 4: COPY \.\.\/outside \(.*outside/,
        /line 5: COPY \/here\.txt \(.*relative/,
        /line 6: ADD added\.txt \(.*write COPY/,
      ])
        assert.match(error.message, line)
      assert.not.match(error.message, /COPY here\.txt|ADD here\.txt|example\.com|not\/here/)
    },
  ))

test('an image made by the SDK is taken as it is', () =>
  withFiles({ 'file.txt': 'x' }, async directory => {
    const image = Image.base('node:22').addLocalFile(join(directory, 'file.txt'), '/file.txt').cmd(['serve'])
    const recipe = await readRecipe(image)
    assert.is(recipe.command, 'exec serve')
    const before = await hashRecipe(recipe, {}, undefined)
    await writeFile(join(directory, 'file.txt'), 'y')
    assert.is.not(await hashRecipe(recipe, {}, undefined), before)
    await rm(join(directory, 'file.txt'))
    await assertRejects(readRecipe(image), 'dockerfile-copies-missing', /file\.txt/)
  }))

test('a pattern is let through where what it means is sent all the same', () =>
  withFiles({ Dockerfile: '', 'src/a.ts': '', 'b.json': '' }, async directory => {
    const path = join(directory, 'Dockerfile')
    for (const copies of [
      'COPY src /x\nCOPY src/*.ts /y',
      'COPY ["*.json", "/x/"]',
      'COPY b.json /x\nCOPY [ab].json /y',
    ]) {
      await writeFile(path, `FROM node:22\n${copies}\n`)
      assert.is((await readRecipe(path)).patterns.length, 1, copies)
    }
    await writeFile(path, 'FROM node:22\nCOPY *.json /x/\n')
    await assertRejects(readRecipe(path), 'dockerfile-copies-missing', /line 2: COPY \*\.json/)
  }))

test('a source that is a variable is refused, for which the SDK would send the whole folder', () =>
  withFiles(
    { Dockerfile: 'FROM node:22\nARG WHICH=a.ts\nCOPY $WHICH ./\nCOPY a.ts ./\n', 'a.ts': '' },
    async directory => {
      const path = join(directory, 'Dockerfile')
      const error = await assertRejects(
        readRecipe(path),
        'dockerfile-copies-missing',
        /line 3: COPY \$WHICH \(.*variables/,
      )
      assert.not.match(error.message, /line 4/)
    },
  ))

test('a file that is not in a folder which is sent is noticed', () =>
  withFiles({ Dockerfile: 'FROM node:22\nCOPY src /x\nCOPY src/gone.ts /y\n', 'src/a.ts': '' }, async directory => {
    await assertRejects(
      readRecipe(join(directory, 'Dockerfile')),
      'dockerfile-copies-missing',
      /line 3: COPY src\/gone/,
    )
  }))

test('everything beside the Dockerfile may be copied at once', () =>
  withFiles({ Dockerfile: 'FROM node:22\nCOPY . /app\n', 'a/b.txt': '1' }, async directory => {
    const before = await hashIn(directory)
    await writeFile(join(directory, 'a/b.txt'), '2')
    assert.is.not(await hashIn(directory), before)
  }))

test.run()
