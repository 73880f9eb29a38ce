/** Where a page is run: a directory that looks like a clone, or like a project that has the package. All of it is temporary. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAndInstall } from '../package/packed.ts'
import { program } from '../support/cli.ts'
import { repository } from '../support/source-imports.ts'
import { endProcess, listRunning } from './processes.ts'

export interface Place {
  readonly directory: string
  /** Commands that pages use: `troupe`, `npx troupe`. */
  readonly variables: NodeJS.ProcessEnv
  /** For what the page itself does not see. */
  readonly hidden: string
  /** Processes that were started here, and what is in the temporary directory. */
  leftovers(): readonly string[]
  /** Ends those processes at once. */
  endProcesses(): void
  remove(): Promise<void>
}

/** What a page may write into is copied, and where it builds images all that it sends; the rest is linked; nothing that the repository's own runs have left is there. */
const SENT = /^(actors|scripts|src)$/
const COPIED = /^(environments|examples|templates|[^/]*\.(hud|json)|\.dockerignore|\.npmrc)$/
const ABSENT = /^(\.git|\.troupe|\.cache|\.ci|site|dist-.*|train_run\.json|train_curve\.svg)$/

export function openClone(buildsImages: boolean): Place {
  const directory = makeDirectory()
  for (const name of readdirSync(repository)) {
    if (ABSENT.test(name) || name === 'node_modules') continue
    if (COPIED.test(name) || (buildsImages && SENT.test(name)))
      cpSync(join(repository, name), join(directory, name), { recursive: true })
    else symlinkSync(join(repository, name), join(directory, name))
  }
  // A real directory with links in it: what is scaffolded here finds the package under its name.
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync(join(repository, 'node_modules')))
    symlinkSync(join(repository, 'node_modules', name), join(directory, 'node_modules', name))
  symlinkSync(repository, join(directory, 'node_modules/troupe'))
  return openPlace(directory, program, () => rmSync(directory, { recursive: true, force: true }))
}

export async function openProject(): Promise<Place> {
  const packed = await packAndInstall()
  return openPlace(packed.project, join(packed.installed, 'dist/src/cli/main.js'), packed.remove)
}

function openPlace(directory: string, main: string, remove: () => void | Promise<void>): Place {
  const hidden = makeDirectory()
  const temporary = join(hidden, 't')
  const bin = join(hidden, 'bin')
  const home = join(hidden, 'home')
  for (const each of [temporary, bin, home]) mkdirSync(each)
  writeProgram(join(bin, 'troupe'), `exec '${process.execPath}' '${main}' "$@"`)
  writeProgram(
    join(bin, 'npx'),
    'if [ "$1" = troupe ]; then shift; exec troupe "$@"; fi\necho "npx: pages may only run troupe with it" >&2\nexit 1',
  )
  return {
    directory,
    hidden,
    variables: {
      ...withoutKeys(process.env),
      PATH: `${bin}:${process.env.PATH}`,
      HOME: home,
      TMPDIR: temporary,
      NO_COLOR: '1',
      NODE_OPTIONS: '',
      HUD_TELEMETRY_ENABLED: 'false',
      npm_config_update_notifier: 'false',
    },
    leftovers: () => [
      ...listRunning(temporary).map(({ pid, command }) => `process ${pid}: ${command}`),
      // What Node, npm and jiti keep of modules is theirs.
      ...readdirSync(temporary).filter(name => !/^(jiti|node-compile-cache|npm-)/.test(name)),
    ],
    endProcesses() {
      for (const { pid } of listRunning(temporary)) endProcess(pid)
    },
    async remove() {
      await remove()
      rmSync(hidden, { recursive: true, force: true })
    },
  }
}

/** Sandboxes have users of their own, who must be able to pass through. */
function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-docs-'))
  chmodSync(directory, 0o755)
  return directory
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** Keys and addresses of whoever runs the tests are not for pages. */
function withoutKeys(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^(HUD|DAYTONA|DOCKER|OPENAI|ANTHROPIC|TINKER)_|^npm_/.test(name)),
  )
}
