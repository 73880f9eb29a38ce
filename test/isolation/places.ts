import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** In every secret, and in no command that an attempt runs. */
export const MARK = `do-not-tell-${randomBytes(8).toString('hex')}`

/** What the server is started with, beside what it needs. */
export const KEYS: Readonly<Record<string, string>> = {
  HUD_API_KEY: `${MARK}-hud`,
  HUD_GATEWAY_TOKEN: `${MARK}-gateway`,
  DAYTONA_API_KEY: `${MARK}-daytona`,
  DAYTONA_JWT_TOKEN: `${MARK}-jwt`,
  OPENAI_API_KEY: `${MARK}-openai`,
  GITHUB_TOKEN: `${MARK}-github`,
}

/** What lies outside a sandbox, and where. */
export interface Places {
  /** A directory of the host's that everybody may use, and a file in it that everybody may read. */
  readonly directory: string
  readonly secretFile: string
  /** What attempts to write outside would make. */
  readonly written: string
  readonly repository: string
  /** The environment host's process. */
  readonly server: number
  /** Its control channel, on loopback. */
  readonly controlPort: number
  /** This process listens there. */
  readonly port: number
  readonly addresses: readonly string[]
  readonly socketPath: string
  readonly abstractName: string
  /** Another session's workspace, as the host knows it. */
  readonly theirs: string
}

export type Surroundings = Pick<
  Places,
  'directory' | 'secretFile' | 'written' | 'repository' | 'port' | 'addresses' | 'socketPath' | 'abstractName'
> & { close(): Promise<void> }

/** Things on this machine that only a sandbox keeps an agent from: all of them open to everybody. */
export async function openSurroundings(): Promise<Surroundings> {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-outside-'))
  chmodSync(directory, 0o777)
  const secretFile = join(directory, 'secret.txt')
  writeFileSync(secretFile, `${MARK}-file\n`, { mode: 0o666 })
  chmodSync(secretFile, 0o666)
  const socketPath = join(directory, 'socket')
  const abstractName = `troupe-${randomBytes(6).toString('hex')}`
  const servers = [makeServer(), makeServer()]
  const [tcp, unix] = servers
  await listen(tcp, { port: 0, host: '0.0.0.0' })
  await listen(unix, { path: socketPath, writableAll: true })
  const abstract = await startAbstract(abstractName)
  const bound = tcp?.address()
  return {
    directory,
    secretFile,
    written: join(directory, 'written'),
    repository: fileURLToPath(new URL('../../..', import.meta.url)),
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    addresses: ['127.0.0.1', ...outerAddresses()],
    socketPath,
    abstractName,
    async close() {
      abstract.kill('SIGKILL')
      await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Tells whoever comes, and ends. */
function makeServer(): Server {
  return createServer(socket => {
    socket.on('error', () => {}) // it has gone already
    socket.end(`${MARK}-server\n`)
  })
}

/** Not every Node can listen under a name without a path. */
function startAbstract(name: string): Promise<ChildProcess> {
  const code = `import socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.bind('\\0${name}')
    server.listen()
    print('ready', flush=True)
    while True:
        with server.accept()[0] as client: client.sendall(b'${MARK}-abstract')
`
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/python3', ['-I', '-c', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.once('error', reject)
    child.stdout.once('data', () => resolve(child))
  })
}

function listen(server: Server | undefined, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server?.once('error', reject).listen(where, resolve)
  })
}

function outerAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
}

/** The one environment host that this process has started. */
export function findServer(): number {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const found = pids.find(
    pid => parentOf(pid) === process.pid && read(`/proc/${pid}/cmdline`).startsWith('troupe-environment'),
  )
  if (found === undefined) throw new Error('no environment host runs under this process')
  return Number(found)
}

/** Command lines of this machine that hold `text`. */
export function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    .filter(line => line.includes(text))
}

/** The workspace that holds this text in its file of that name, wherever the runtimes of this machine keep theirs. */
export function findWorkspace(name: string, text: string): string {
  for (const host of readdirSync(tmpdir()).filter(each => each.startsWith('troupe-local-'))) {
    const workspaces = join(tmpdir(), host, 'workspaces')
    for (const base of list(workspaces)) {
      for (const session of list(join(workspaces, base))) {
        const directory = join(workspaces, base, session)
        if (existsSync(join(directory, name)) && read(join(directory, name)).includes(text)) return directory
      }
    }
  }
  throw new Error(`no workspace on this machine holds ${name}`)
}

function parentOf(pid: string): number {
  // After the name, which may hold anything: state, then the parent.
  return Number(read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1])
}

function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // it went, or it is a file
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended
  }
}
