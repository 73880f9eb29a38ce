import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { loadEnvironment, loadEnvironments } from '../../src/environment/load.ts'
import { TroupeError } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('loading environments')

const head = "import { Environment } from 'troupe/environment'\n"
const files = {
  'one.ts': `${head}const env = new Environment('one')\nexport { env, env as again }\nexport default [1]`,
  'two.ts': `${head}export const a = new Environment('a')\nexport const b = new Environment('b')`,
  'same.ts': `${head}export const a = new Environment('a')\nexport const b = new Environment('a')`,
  'none.ts': 'export const env = { name: "none" }',
}

async function failure(promise: Promise<unknown>): Promise<TroupeError> {
  const error = await promise.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof TroupeError, String(error))
  return error
}

test('the one environment of a file needs no name, whatever else is exported', async () => {
  await withFiles(files, async directory => {
    assert.is((await loadEnvironment(join(directory, 'one.ts'))).name, 'one')
    assert.is((await loadEnvironments(join(directory, 'one.ts'))).length, 1)
    assert.is((await loadEnvironment(join(directory, 'one.ts'), 'one')).name, 'one')
  })
})

test('of several, one is chosen by name', async () => {
  await withFiles(files, async directory => {
    const path = join(directory, 'two.ts')
    assert.is((await loadEnvironment(path, 'b')).name, 'b')
    const several = await failure(loadEnvironment(path))
    assert.is(several.tag, 'several-environments')
    assert.match(several.message, /"a", "b".*--env/)
    const unknown = await failure(loadEnvironment(path, 'c'))
    assert.is(unknown.tag, 'unknown-environment')
    assert.match(unknown.message, /no environment "c": it has "a", "b"/)
  })
})

test('none, two of one name and a missing file are told apart', async () => {
  await withFiles(files, async directory => {
    assert.is((await failure(loadEnvironment(join(directory, 'none.ts')))).tag, 'no-environment')
    assert.is((await failure(loadEnvironment(join(directory, 'same.ts')))).tag, 'duplicate-environment')
    assert.is((await failure(loadEnvironment(join(directory, 'gone.ts')))).tag, 'module-not-found')
  })
})

test.run()
