import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Jiti } from 'jiti'
import { moduleFailed, moduleNotFound } from './errors.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Where this running package answers to its own name, whoever asks and wherever they are installed. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  troupe: join(root, 'index.js'),
  'troupe/kernel': join(root, 'kernel', 'index.js'),
  'troupe/stream': join(root, 'stream', 'index.js'),
  'troupe/environment': join(root, 'environment', 'index.js'),
  'troupe/emulator': join(root, 'emulator', 'index.js'),
  'troupe/testing': join(root, 'testing', 'index.js'),
  'troupe/policy': join(root, 'policy', 'index.js'),
}

/**
 * Loads a JavaScript or TypeScript file and answers its exports; each file is evaluated once a thread. TypeScript needs no
 * build step: it is translated in memory and its types are not checked. An import of `troupe` in it means the package that is
 * running now, so that nothing of it exists twice. Throws `module-not-found`, `module-syntax` (with file and line),
 * `module-failed`, and as they are the tagged errors that the module itself throws.
 */
export async function loadModule(urlOrPath: string | URL): Promise<Record<string, unknown>> {
  const path = toPath(urlOrPath)
  const found = await stat(path).catch(() => undefined) // whatever the reason, nothing can be loaded there
  if (found?.isFile() !== true) throw moduleNotFound(path)
  try {
    loader ??= makeLoader()
    const exported = await (await loader).import<Record<string, unknown>>(path)
    // A copy of what the file exports: the loader's own object also answers for the members of the default export.
    return Object.fromEntries(Object.keys(exported).map(name => [name, exported[name]]))
  } catch (error) {
    throw moduleFailed(path, error)
  }
}

/** An absolute path from a path or a `file:` URL. */
export function toPath(urlOrPath: string | URL): string {
  const text = String(urlOrPath)
  return text.startsWith('file:') ? fileURLToPath(text) : resolve(text)
}

let loader: Promise<Jiti> | undefined

async function makeLoader(): Promise<Jiti> {
  const { createJiti } = await import('jiti')
  const modules = findModules(root)
  return createJiti(import.meta.url, {
    alias: { ...OWN_NAMES },
    // Translations are kept beside the installed packages, never in the system's temporary directory.
    fsCache: modules === undefined ? false : join(modules, '.cache', 'troupe'),
  })
}

/** The `node_modules` that this package is installed in or, in its own repository, the one beside it. */
function findModules(directory: string): string | undefined {
  for (let at = resolve(directory); at !== dirname(at); at = dirname(at)) {
    if (basename(at) === 'node_modules') return at
    const beside = join(at, 'node_modules')
    if (existsSync(beside)) return beside
  }
  return undefined
}
