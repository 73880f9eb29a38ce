import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import * as environment from '../../src/environment/index.ts'
import { hasTag, TroupeError } from '../../src/errors.ts'
import * as own from '../../src/index.ts'
import { loadModule } from '../../src/modules/load-module.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('loading modules')

async function failure(path: string): Promise<TroupeError> {
  const error = await loadModule(path).catch((thrown: unknown) => thrown)
  assert.ok(error instanceof TroupeError, String(error))
  return error
}

test('TypeScript loads without a build step, with what it imports, by path and by URL', async () => {
  const files = {
    'a.ts': `import { b } from './b.ts'
      import type { Kind } from './b.ts'
      interface Local { readonly b: Kind }
      export const local: Local = { b }
      export default [1, 2] as const`,
    'b.ts': 'export type Kind = number\nexport const b: Kind = 7',
  }
  await withFiles(files, async directory => {
    const loaded = await loadModule(join(directory, 'a.ts'))
    assert.equal(loaded, { local: { b: 7 }, default: [1, 2] })
    assert.is(loaded.length, undefined, 'members of the default export are no exports')
    const again = await loadModule(pathToFileURL(join(directory, 'a.ts')))
    assert.is(again.local, loaded.local, 'each file is evaluated once')
  })
})

test('an import of troupe, wherever the file lies, means the package that is running', async () => {
  const source = `import { defineAgent } from 'troupe'
    import { Environment } from 'troupe/environment'
    export { defineAgent, Environment }`
  await withFiles({ 'a.ts': source, 'b.mjs': source }, async directory => {
    for (const name of ['a.ts', 'b.mjs']) {
      const loaded = await loadModule(join(directory, name))
      assert.is(loaded.defineAgent, own.defineAgent, name)
      assert.is(loaded.Environment, environment.Environment, name)
    }
  })
})

test('it works in a worker thread', async () => {
  await withFiles({ 'a.ts': 'export const answer: number = 42' }, async directory => {
    const loader = new URL('../../src/modules/load-module.js', import.meta.url).href
    const code = `const { parentPort, workerData } = require('node:worker_threads')
      import(workerData.loader).then(m => m.loadModule(workerData.path)).then(m => parentPort.postMessage(m.answer))`
    const worker = new Worker(code, { eval: true, workerData: { loader, path: join(directory, 'a.ts') } })
    try {
      const answer = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
      assert.is(answer, 42)
    } finally {
      await worker.terminate()
    }
  })
})

test('a file that is not there is named', async () => {
  const error = await failure('/no/such/file.ts')
  assert.is(error.tag, 'module-not-found')
  assert.match(error.message, /\/no\/such\/file\.ts/)
})

test('a syntax error is told with file and line', async () => {
  await withFiles(
    { 'a.ts': 'export const a = 1\n\nexport const = 2\n', 'b.mjs': 'export const = 2\n' },
    async directory => {
      const typescript = await failure(join(directory, 'a.ts'))
      assert.is(typescript.tag, 'module-syntax')
      assert.match(typescript.message, /a\.ts:3:\d+: Unexpected token/)
      const javascript = await failure(join(directory, 'b.mjs'))
      assert.is(javascript.tag, 'module-syntax')
      assert.match(javascript.message, /b\.mjs/)
    },
  )
})

test('a syntax error in an imported file names that file', async () => {
  await withFiles({ 'a.ts': "import './b.ts'", 'b.ts': '\nlet let = 1' }, async directory => {
    assert.match((await failure(join(directory, 'a.ts'))).message, /b\.ts:2/)
  })
})

test('what a module throws while it loads is told with its place', async () => {
  await withFiles({ 'a.ts': "const a: number = 1\n\nthrow new Error('boom ' + a)\n" }, async directory => {
    const error = await failure(join(directory, 'a.ts'))
    assert.is(error.tag, 'module-failed')
    assert.match(error.message, /a\.ts:3:\d+: loading the file failed: boom 1/)
  })
})

test('an import that is not there is named', async () => {
  await withFiles({ 'a.ts': "import './nope.ts'", 'b.ts': "import 'no-such-package-here'" }, async directory => {
    assert.match((await failure(join(directory, 'a.ts'))).message, /an import was not found: "\.\/nope\.ts"/)
    assert.match((await failure(join(directory, 'b.ts'))).message, /an import was not found: "no-such-package-here"/)
  })
})

test('errors of ours pass through as they are', async () => {
  const source = `import { Environment } from 'troupe/environment'
    new Environment('')`
  await withFiles({ 'a.ts': source }, async directory => {
    assert.ok(hasTag(await failure(join(directory, 'a.ts')), 'bad-name'))
  })
})

test.run()
