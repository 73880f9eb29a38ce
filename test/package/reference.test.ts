/** What `npm run docs:api` makes. That every export is told, and every link leads somewhere, is seen where `test/docs/site.test.ts` makes the whole of it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('the API reference')
const run = promisify(execFile)
const PLUGIN = join(repository, 'scripts/reference/plugin.mjs')

interface Ended {
  readonly code: number
  readonly output: string
}

/** typedoc as `npm run docs:api` runs it, but nothing is written. */
async function typedoc(cwd: string, ...argv: readonly string[]): Promise<Ended> {
  const program = join(repository, 'node_modules/typedoc/bin/typedoc')
  const env = { ...process.env, NO_COLOR: '1' }
  const ended = run(process.execPath, [program, '--emit', 'none', ...argv], { cwd, env, timeout: 200_000 })
  const {
    code = 0,
    stdout,
    stderr,
  } = await ended.then(
    output => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
  return { code, output: `${stdout}${stderr}` }
}

test('it is made of every entry of the package', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(repository, name), 'utf8'))
  const exported: readonly { readonly types?: string }[] = Object.values(read('package.json').exports)
  const entries = exported.flatMap(({ types }) => types?.replace('./dist/', '').replace('.d.ts', '.ts') ?? [])
  assert.equal([...read('typedoc.json').entryPoints].sort(), entries.sort())
})

test(
  'an export without a comment, and a link to nowhere, are noticed; a member without one is not',
  async () => {
    const source = `/** Links to {@link Nowhere}. */
export interface Told { readonly member: number }
export interface Mute { readonly member: number }
export const mute = 1
export function say(): void {}
/** Told. */
export function told(): void {}
`
    // What would be warned of before anything is validated, and end it there.
    const settings = { name: 'fixture', readme: 'none', disableGit: true, disableSources: true }
    const files = {
      'index.ts': source,
      'other.ts': '/** Told. */\nexport const other = 1\n',
      'tsconfig.json': '{ "compilerOptions": { "types": [] } }',
      'typedoc.json': JSON.stringify({ ...settings, entryPoints: ['index.ts', 'other.ts'], plugin: [PLUGIN] }),
    }
    await withFiles(files, async directory => {
      const { code, output } = await typedoc(directory, '--treatWarningsAsErrors')
      assert.is.not(code, 0)
      for (const name of ['Mute', 'mute', 'say']) assert.match(output, `troupe: ${name} has no doc comment`)
      assert.match(output, 'Nowhere')
      assert.not.match(output, /(Told|told|other) has no/)
    })
  },
  { deadlineMs: 120_000 },
)

test.run()
