import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { x as extract } from 'tar'
import { z } from 'zod'
import { repository } from '../support/source-imports.ts'

const run = promisify(execFile)

const manifestSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
  dependencies: z.record(z.string(), z.string()),
})
const reportSchema = z.tuple([z.object({ filename: z.string(), size: z.number(), unpackedSize: z.number() })])

/** The package as it would be published, installed into a project that has nothing else. */
export interface Packed {
  readonly tarball: string
  readonly bytes: number
  readonly unpackedBytes: number
  readonly project: string
  /** The package in it. */
  readonly installed: string
  readonly entries: readonly string[]
  /** Runs a program of the project with Node; rejects where it fails or writes to stderr. */
  node(...argv: readonly string[]): Promise<string>
  /** The same in a folder of the project. */
  nodeIn(folder: string, ...argv: readonly string[]): Promise<string>
  /** Runs the package's command in a folder of the project. */
  troupeIn(folder: string, ...argv: readonly string[]): Promise<string>
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

/** `npm pack`, and what `npm install` of the tarball would make of it; only that dependencies are linked, so that nothing is fetched. */
export async function packAndInstall(): Promise<Packed> {
  const project = await mkdtemp(join(tmpdir(), 'troupe-packed-'))
  const remove = () => rm(project, { recursive: true, force: true })
  try {
    // What runs in a sandbox is another user, who has to pass through.
    await chmod(project, 0o755)
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
      cwd: repository,
      maxBuffer: 16 * 1024 * 1024,
    })
    const [report] = reportSchema.parse(JSON.parse(stdout))
    const tarball = join(project, report.filename)
    const installed = join(project, 'node_modules/troupe')
    await mkdir(installed, { recursive: true })
    await extract({ file: tarball, cwd: installed, strip: 1 })
    const { exports, dependencies } = manifestSchema.parse(
      JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')),
    )
    // With Node's types, as a project in TypeScript has them.
    for (const name of [...Object.keys(dependencies), '@types/node']) await link(project, name)
    await writeFile(join(project, 'package.json'), '{ "private": true }')
    const nodeIn = async (folder: string, ...argv: readonly string[]) => {
      const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', TMPDIR: project }
      const ended = await run(process.execPath, [...argv], { cwd: join(project, folder), env, timeout: 60_000 })
      if (ended.stderr !== '') throw new Error(`${argv.join(' ')} wrote to stderr: ${ended.stderr}`)
      return ended.stdout
    }
    return {
      tarball,
      bytes: report.size,
      unpackedBytes: report.unpackedSize,
      project,
      installed,
      entries: Object.keys(exports).filter(each => each !== './package.json'),
      node: (...argv) => nodeIn('.', ...argv),
      nodeIn,
      troupeIn: (folder, ...argv) => nodeIn(folder, join(installed, 'dist/src/cli/main.js'), ...argv),
      write: (name, text) => writeFile(join(project, name), text),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function link(project: string, name: string): Promise<void> {
  const place = join(project, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(repository, 'node_modules', name), place, 'dir')
}
