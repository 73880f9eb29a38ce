import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Image } from '@daytonaio/sdk'
import * as assert from 'uvu/assert'
import { readRecipe } from '../../../../src/runtimes/daytona/snapshot/recipe.ts'
import { repository } from '../../../support/source-imports.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('Dockerfile.hud')

const path = join(repository, 'Dockerfile.hud')
const text = readFileSync(path, 'utf8').replaceAll(/\\\n\s*/g, '')
const [build = '', last = ''] = text.split(/^FROM .*$/m).slice(1)
const SOURCES = [
  '.npmrc',
  'actors',
  'environments',
  'package-lock.json',
  'package.json',
  'scripts',
  'src',
  'tsconfig.json',
]

test('the SDK sends what it copies, which is in a clean clone, and nothing that is built or installed', async () => {
  const { contextList } = Image.fromDockerfile(path)
  assert.equal(contextList.map(({ archivePath }) => archivePath.replace(/^\.\//, '')).sort(), SOURCES)
  for (const { sourcePath } of contextList) assert.ok(existsSync(sourcePath), sourcePath)
  const { command, patterns } = await readRecipe(path)
  assert.is(command, 'cd /app && exec troupe serve environments/calc/env.ts --host 0.0.0.0 --port 8765 --insecure')
  assert.equal(patterns, [])
  if (!existsSync(join(repository, '.git'))) return
  for (const source of SOURCES)
    assert.ok(
      execFileSync('git', ['ls-files', source], { cwd: repository }).length > 0,
      `${source} is not in the repository`,
    )
})

test('a build on this machine is sent the same', () => {
  const lines = readFileSync(join(repository, '.dockerignore'), 'utf8').split('\n')
  assert.ok(lines.includes('*'))
  assert.equal(
    lines.filter(line => line.startsWith('!')).map(line => line.slice(1)),
    SOURCES,
  )
})

test('dependencies are installed before sources are copied, and nobody is root in the end', () => {
  assert.ok(build.indexOf('RUN npm ci') < build.indexOf('COPY src'))
  assert.match(last, /\nUSER node\n/)
  assert.match(last, /\bbubblewrap\b/)
  // The provider looks for this word in the whole text, comments too.
  assert.not.match(text, /ENTRYPOINT\s/)
})

test('what the last stage has is enough to serve', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-test-'))
  let server: ChildProcess | undefined
  try {
    await layOut(directory)
    const [, ...words] = JSON.parse(/^CMD (.*)$/m.exec(last)?.[1] ?? '[]').slice(1)
    const argv = [join(directory, 'dist/src/cli/main.js'), ...words.slice(1), '--port', '0']
    server = spawn(process.execPath, argv, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    assert.match(await hello(await portOf(server)), /"env":\{"name":"calc"/)
  } finally {
    if (server?.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit')
    await rm(directory, { recursive: true, force: true })
  }
})

/** Does what the `COPY`s of the last stage do, from the tests' own build. */
async function layOut(directory: string): Promise<void> {
  for (const [, source = '', target = ''] of last.matchAll(/^COPY (?:--from=build \/app\/)?(\S+) (\S+)$/gm)) {
    const to = target.endsWith('/') ? join(directory, target, source) : join(directory, target)
    if (source === 'node_modules') await install(to)
    else await cp(source.startsWith('dist/') ? toBuilt(source) : join(repository, source), to, { recursive: true })
  }
}

/** The tests' build may be another than `dist`. */
const toBuilt = (source: string): string =>
  fileURLToPath(new URL(`../../../../${relative('dist', source)}`, import.meta.url))

/** What `npm uninstall --omit=dev` leaves of the direct dependencies. */
async function install(folder: string): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const removed = /npm uninstall --omit=dev (.*?) && /.exec(build)?.[1]?.split(' ') ?? []
  assert.ok(removed.length > 0)
  for (const name of removed) assert.ok(name in dependencies, `${name} is no dependency any more`)
  for (const name of Object.keys(dependencies).filter(each => !removed.includes(each))) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await symlink(join(repository, 'node_modules', name), join(folder, name))
  }
}

async function portOf({ stdout, stderr }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error('no output')
  let said = ''
  stderr?.setEncoding('utf8').on('data', text => {
    said += text
  })
  for await (const line of createInterface({ input: stdout })) {
    const [, port] = /^HUD_SERVE_PORT=(\d+)$/.exec(line) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error(`it ended before it served: ${said}`)
}

async function hello(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.write('{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return String(answer)
}

test.run()
