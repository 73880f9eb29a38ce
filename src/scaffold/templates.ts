import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnPackage } from './own-package.ts'

/** What a new environment can begin as. */
export const TEMPLATES = {
  shell: 'a workspace with a bug in a script, graded by a command',
  question: 'a question and its answer, without a workspace',
} as const
export type TemplateName = keyof typeof TEMPLATES

/** What the files of the templates call the environment; as a name it is valid wherever it stands, so that they can be compiled and formatted where they are. */
const PLACEHOLDER = 'my-environment'
/** What no package may hold under its own name, since npm would go by it. */
const DOTTED = new Set(['gitignore', 'dockerignore'])
/** The line of the Dockerfile that names the sources. */
const SOURCES = 'COPY env.ts tasks.ts ./'

/** What the files are to be made for. */
export interface Wanted {
  readonly template: TemplateName
  readonly name: string
  /** What npm is asked for to get this package. */
  readonly spec: string
}

/** The files of a new environment, by name, sorted. Nothing is written. */
export async function makeFiles(wanted: Wanted, own: OwnPackage): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const folder of ['every', wanted.template])
    for (const name of await readdir(join(own.root, 'templates', folder))) {
      const text = await readFile(join(own.root, 'templates', folder, name), 'utf8')
      files.set(DOTTED.has(name) ? `.${name}` : name, text.replaceAll(PLACEHOLDER, wanted.name))
    }
  const served = [...files.keys()].filter(isServed).sort()
  const dockerfile = files.get('Dockerfile.hud') ?? ''
  files.set('Dockerfile.hud', dockerfile.replace(SOURCES, `COPY ${served.join(' ')} ./`))
  files.set('package.json', makeManifest(wanted, own))
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The environment's own sources: neither the agent, which is not in the sandbox, nor tests. */
function isServed(name: string): boolean {
  return name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'agent.ts'
}

function makeManifest({ name, spec }: Wanted, own: OwnPackage): string {
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      eval: 'troupe eval . agent.ts --all',
      // Node 20 reads no TypeScript by itself.
      test: 'node --import jiti/register --test env.test.ts',
      check: 'tsc',
    },
    dependencies: { troupe: spec },
    devDependencies: Object.fromEntries(
      ['@types/node', 'jiti', 'typescript'].map(each => [each, own.rangeOf(each)] as const),
    ),
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}
