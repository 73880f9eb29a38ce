/** `npm run docs:site`: builds the site into `site/`, or where the argument says. */
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildSite } from './build.ts'

const repository = process.cwd()
const out = resolve(process.argv[2] ?? 'site')
const { files, pages } = buildSite(repository, out)
const typedoc = join(repository, 'node_modules/typedoc/bin/typedoc')
const { status } = spawnSync(process.execPath, [typedoc, '--out', join(out, 'api'), '--logLevel', 'Warn'], {
  cwd: repository,
  stdio: 'inherit',
})
if (status === 0) console.log(`written: ${out}: ${pages} pages, ${files} files, and the API reference`)
process.exitCode = status ?? 1
