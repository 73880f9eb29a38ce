/**
 * Lists the licences of everything that is installed with the package (`node scripts/licences.mjs [directory]`), and exits with 1 where one
 * is not among those that may be used here. Reads the lockfile and node_modules, asks nobody. Plain JavaScript, because nothing need be built for it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** They ask for no more than to be named, and forbid nothing that users of the package do. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Packages about which neither the lockfile nor, where they are not installed, a package.json says anything. */
const EXCEPTIONS = new Map([
  ['buildcheck', { licence: 'MIT', reason: 'optional, of ssh2; its package.json has the old form of the field' }],
  ['cpu-features', { licence: 'MIT', reason: 'optional, of ssh2; its package.json has the old form of the field' }],
])

const root = process.argv[2] ?? join(fileURLToPath(import.meta.url), '../..')
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const found = Object.entries(packages)
  .filter(([path, entry]) => path !== '' && !entry.dev)
  .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1), version: entry.version, ...find(path, entry) }))

const byLicence = group(found)
for (const [licence, all] of [...byLicence].sort(([, one], [, other]) => other.length - one.length))
  console.log(`${String(all.length).padStart(4)}  ${licence}`)

const refused = found.filter(({ licence }) => !isAllowed(licence))
for (const { name, version, licence, reason } of found)
  if (reason !== undefined) console.log(`${name} ${version}: ${licence} (${reason})`)
for (const { name, version, licence } of refused)
  console.error(
    `${name} ${version} has the licence ${licence}, which is not on the list: leave it out, or add the licence with a reason`,
  )
console.log(`${found.length} packages, ${refused.length} refused`)
process.exit(refused.length === 0 ? 0 : 1)

/** What the installed package says counts before the lockfile, which knows only the newer form of the field. */
function find(path, entry) {
  const file = join(root, path, 'package.json')
  const said = existsSync(file) ? read(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  const licence = said ?? read(entry)
  if (licence !== undefined) return { licence }
  return EXCEPTIONS.get(path.split('node_modules/').at(-1)) ?? { licence: 'none that it names' }
}

/** `license: "MIT"`, or what was written before: `license: { type }` and `licenses: [{ type }, …]`, of which one may be chosen. */
function read({ license, licenses }) {
  if (typeof license === 'string') return license
  if (typeof license?.type === 'string') return license.type
  if (!Array.isArray(licenses)) return undefined
  const types = licenses.map(each => (typeof each === 'string' ? each : each?.type)).filter(Boolean)
  return types.length === 0 ? undefined : types.join(' OR ')
}

/** An SPDX expression of `AND`, which binds more closely, and `OR`; with brackets inside it is refused, for a person to read. */
function isAllowed(expression) {
  const text = expression.replace(/^\((.*)\)$/, '$1')
  return text.split(' OR ').some(part => part.split(' AND ').every(id => ALLOWED.has(id.trim())))
}

function group(all) {
  const groups = new Map()
  for (const each of all) groups.set(each.licence, [...(groups.get(each.licence) ?? []), each])
  return groups
}
