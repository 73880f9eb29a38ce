// Bundles libraries of many small files into one file each in dist/src/vendor, with their licences, and leads the compiled imports of them there: finding and
// linking a hundred modules costs a process, and each thread of it, longer than running them. The types still come from the packages.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildSync } from 'esbuild'

/** Loaded by nearly everything, and of 99 and 53 files. RxJS is not among them: streams are Observables to whoever embeds the engine. */
const LIBRARIES = ['zod', 'hdr-histogram-js']
/** By its name or, where the compiler has left a file as it was, by where an earlier build has led it. */
const IMPORT = new RegExp(`(\\bfrom |\\bimport\\()'(?:[./]+(?:src/)?vendor/)?(${LIBRARIES.join('|')})(?:\\.js)?'`, 'g')

/** Throws where one cannot be bundled. What is there is replaced whole, file by file: a command may be running from it. */
export function vendor(root, dist) {
  const into = join(dist, 'src/vendor')
  const { metafile, outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: LIBRARIES.map(name => ({ in: name, out: name })),
    outdir: into,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'inline',
    metafile: true,
    write: false,
  })
  mkdirSync(into, { recursive: true })
  for (const { path, contents } of outputFiles) replace(path, contents)
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap(path => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []),
  )
  for (const directory of packages) copyLicence(root, directory, into)
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue
    const path = join(entry.parentPath, entry.name)
    const text = readFileSync(path, 'utf8')
    const to = name => relative(dirname(path), join(into, `${name}.js`)).replace(/^(?!\.)/, './')
    const led = text.replaceAll(IMPORT, (_, before, name) => `${before}'${to(name)}'`)
    if (led !== text) replace(path, led)
  }
}

/** Its licence or, where it ships no text of it, what it says of itself. */
function copyLicence(root, directory, into) {
  const to = join(into, `LICENCE-${directory.replace('node_modules/', '').replace('/', '-')}`)
  const file = readdirSync(join(root, directory)).find(name => /^licen[cs]e/i.test(name))
  if (file !== undefined) return copyFileSync(join(root, directory, file), to)
  const { name, version, license, author } = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8'))
  writeFileSync(to, `${name} ${version}, by ${author?.name ?? author}: ${license}\n`)
}

function replace(path, contents) {
  writeFileSync(`${path}.new`, contents)
  renameSync(`${path}.new`, path)
}
