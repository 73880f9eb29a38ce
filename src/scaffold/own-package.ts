import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
})

/** What a new project has to know of the package that makes it. */
export interface OwnPackage {
  /** Where it lies. */
  readonly root: string
  readonly version: string
  /** The range in which this package itself uses another, under whatever name. Throws where it uses none. */
  rangeOf(name: string): string
}

/** This package, which is two directories up in the sources and three in the build. */
export function readOwnPackage(): OwnPackage {
  const here = dirname(fileURLToPath(import.meta.url))
  const roots = [join(here, '../..'), join(here, '../../..')]
  const root = roots.find(each => existsSync(join(each, 'package.json'))) ?? here
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const ranges = { ...manifest.devDependencies, ...manifest.dependencies }
  return {
    root,
    version: manifest.version,
    rangeOf(name) {
      const aliased = Object.values(ranges).find(spec => spec.startsWith(`npm:${name}@`))
      const range = aliased?.slice(`npm:${name}@`.length) ?? ranges[name]
      if (range === undefined) throw new Error(`package.json names no ${name}, which new environments are to have`)
      return range
    },
  }
}

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ resolved: z.string().optional() })),
})

/**
 * What a package.json in `directory` has to say for npm to install what is running now: its version, or where it came from, if that is a clone or a
 * tarball on this machine.
 */
export function findSpec({ root, version }: Pick<OwnPackage, 'root' | 'version'>, directory: string): string {
  const toFile = (path: string) => `file:${relative(directory, path)}`
  const modules = dirname(root)
  if (basename(modules) !== 'node_modules') return toFile(root)
  const resolved = readResolved(modules, basename(root))
  return resolved?.startsWith('file:') === true
    ? toFile(join(dirname(modules), resolved.slice('file:'.length)))
    : `^${version}`
}

/** npm's own note of what it has installed there; absent where another program did. */
function readResolved(modules: string, name: string): string | undefined {
  const path = join(modules, '.package-lock.json')
  if (!existsSync(path)) return undefined
  const lock = lockSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  return lock.data?.packages[`node_modules/${name}`]?.resolved
}
