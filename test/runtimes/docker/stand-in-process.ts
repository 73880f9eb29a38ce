import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { portOf } from '../../../src/emulator/gateway.ts'
import { hostProgram } from '../fixtures/host-scene.ts'

/** What runs in a container: a process group of this machine, and the port that is published for it. */
export interface ContainerProcess {
  readonly hostPort: number
  readonly pid: number
  /** Resolves with the exit code when it has ended and its port is closed. */
  readonly exited: Promise<number>
  kill(): void
}

export interface ProcessRequest {
  /** Of its own, for the socket that it listens on. */
  readonly directory: string
  /** What `/app` is. */
  readonly root: string
  /** Where its programs are: `troupe`, `tini`, `environment-host`. */
  readonly bin: string
  readonly argv: readonly string[]
  readonly env: readonly string[]
  readonly onOutput: (stream: 1 | 2, text: Buffer) => void
}

/** The programs that images have: `environment-host` serves what the fixtures' file says. */
export async function makePrograms(bin: string, environmentPath: string): Promise<void> {
  const node = process.execPath
  const troupe = fileURLToPath(new URL('./fixtures/troupe.js', import.meta.url))
  const programs = {
    troupe: `exec '${node}' '${troupe}' "$@"`,
    tini: 'shift; exec "$@"',
    'environment-host': `exec '${node}' '${hostProgram}' '${environmentPath}' --socket "$STAND_IN_SOCKET" --exit-with-parent`,
  }
  await mkdir(bin)
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
}

/** Whoever reads its stdin ends with this process, whatever becomes of that. */
export async function startProcess(request: ProcessRequest): Promise<ContainerProcess> {
  const { argv, bin, directory, env, onOutput, root } = request
  const socket = join(directory, 's')
  const [program = 'true', ...words] = argv.map(word => word.replaceAll('/app', root))
  const proxy = await startProxy(socket)
  const child = spawn(program, words, {
    cwd: root,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: directory,
      TMPDIR: directory,
      ...Object.fromEntries(env.map(each => each.split(/=(.*)/s, 2))),
      STAND_IN_SOCKET: socket,
    },
  })
  child.stdin.on('error', () => {}) // it has ended before its stdin was closed
  child.stdout.on('data', (text: Buffer) => onOutput(1, text))
  child.stderr.on('data', (text: Buffer) => onOutput(2, text))
  return {
    hostPort: portOf(proxy.server),
    pid: child.pid ?? 0,
    exited: watch(child, proxy),
    kill: () => killGroup(child),
  }
}

async function watch(child: ChildProcess, proxy: Proxy): Promise<number> {
  const [code, signal] = await once(child, 'close')
  killGroup(child)
  await proxy.close()
  return code ?? (signal === 'SIGKILL' ? 137 : 143)
}

function killGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // ESRCH: nothing of it is left.
  }
}

interface Proxy {
  readonly server: Server
  close(): Promise<void>
}

/** As an engine's: it accepts before anything serves behind it, and then hangs up. */
async function startProxy(socket: string): Promise<Proxy> {
  const open = new Set<Socket>()
  const hold = (each: Socket) => {
    open.add(each)
    each.on('close', () => open.delete(each))
  }
  const server = createServer({ noDelay: true, allowHalfOpen: true }, client => {
    const inner = connect(socket)
    hold(client)
    hold(inner)
    for (const [one, other] of [
      [client, inner],
      [inner, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    async close() {
      for (const each of open) each.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
