/** Importing the library costs little: what is heavy is loaded when it is first used. Not timed here, where others use the machine: what is loaded is what costs. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { type Loaded, loadAlone } from './loaded.ts'

const test = suite('importing the library')

const entry = (name: string) => new URL(`../../src/${name}index.js`, import.meta.url).href
/** Each in a process of its own, once for all tests. */
const loads = new Map<string, Promise<Loaded>>()
function load(name: string): Promise<Loaded> {
  const loading = loads.get(name) ?? loadAlone(entry(name))
  loads.set(name, loading)
  return loading
}
const MSGPACKR = ['detect-libc', 'msgpackr', 'msgpackr-extract', 'node-gyp-build-optional-packages']

/** Packages that each entry may load at once, and own files at most: each of them costs about a third of a millisecond. */
const ENTRIES: Readonly<Record<string, { readonly packages: readonly string[]; readonly files: number }>> = {
  '': { packages: [], files: 150 },
  'kernel/': { packages: MSGPACKR, files: 40 },
  'stream/': { packages: [], files: 20 },
  'environment/': { packages: ['zod'], files: 50 },
}

for (const [name, { packages, files }] of Object.entries(ENTRIES))
  test(`troupe/${name} loads ${packages.length === 0 ? 'no package' : `no package but ${packages[0]}`}`, async () => {
    const loaded = await load(name)
    assert.equal(
      loaded.packages.filter(each => !packages.includes(each) && !each.startsWith('@msgpackr-extract/')),
      [],
    )
    assert.ok(loaded.ownFiles > 5, 'its files are seen at all')
    assert.ok(loaded.ownFiles <= files, `${loaded.ownFiles} files of ours, and ${files} are allowed`)
  })

for (const name of ['', 'kernel/', 'stream/', 'environment/', 'emulator/', 'policy/', 'testing/'])
  test(`troupe/${name} sets no global, installs no handler and prints nothing`, async () => {
    const { globals, handlers, output } = await load(name)
    // What packages keep between copies of themselves is theirs; Node keeps its fetch's connections so, from 22 on as soon as a package looks at `Response`.
    const ours = globals.filter(each => !/^(__(zod|lmdb)_|Symbol\(undici\.globalDispatcher\.)/.test(each))
    assert.equal({ ours, handlers, output }, { ours: [], handlers: [], output: '' })
  })

test('what is loaded, set, installed and printed is noticed', async () => {
  const source = `import '${import.meta.resolve('rxjs')}'
globalThis.made = true
process.on('SIGTERM', () => {})
console.log('hello')`
  await withFiles({ 'loud.mjs': source }, async directory => {
    const loaded = await loadAlone(pathToFileURL(join(directory, 'loud.mjs')).href)
    assert.ok(loaded.packages.includes('rxjs'), loaded.packages.join(' '))
    assert.ok(loaded.globals.includes('made'), loaded.globals.join(' '))
    assert.ok(loaded.handlers.includes('SIGTERM'), loaded.handlers.join(' '))
    assert.match(loaded.output, /hello/)
  })
})

test.run()
