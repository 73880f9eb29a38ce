// Compiles into dist/ in place and then removes what no source stands behind: another command may be running from dist/, an emulator for
// instance, and must find its files at every moment. The dashboard's page is a project of its own, because what runs in a browser knows other
// globals; it lands among the rest, where the server reads it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vendor } from './vendor.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

const PROJECTS = ['tsconfig.json', 'src/dashboard/page/tsconfig.json']

const statuses = PROJECTS.map(project => {
  const { status, error } = spawnSync('tsc', ['-p', join(root, project)], { stdio: 'inherit' })
  if (error !== undefined) throw error
  return status ?? 1
})

const outputs = existsSync(dist) ? readdirSync(dist, { recursive: true, withFileTypes: true }) : []
for (const entry of outputs) {
  const path = join(entry.parentPath, entry.name)
  const source = join(root, relative(dist, path)).replace(/\.(js|js\.map|d\.ts)$/, '.ts')
  if (entry.parentPath === join(dist, 'src/vendor')) continue
  if (entry.isFile() && source.endsWith('.ts') && !existsSync(source) && !existsSync(`${source}x`)) rmSync(path)
}
vendor(root, dist)
process.exit(Math.max(...statuses))
