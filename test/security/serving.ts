import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface ServingProcess {
  readonly pid: number
  /** Its first line on stdout. */
  readonly line: string
  stderr(): string
  end(): Promise<void>
}

/** Starts a command of the CLI that goes on until it is told to end, and waits for its first line. */
export async function startServing(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly variables?: Readonly<Record<string, string>> } = {},
): Promise<ServingProcess> {
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.variables },
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exited = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(() => Promise.reject(new Error(`it ended before it served: ${stderr}`))),
  ])
  return {
    pid: child.pid ?? 0,
    line,
    stderr: () => stderr,
    async end() {
      if (child.exitCode === null) child.kill('SIGTERM')
      await exited
    },
  }
}

/** The hosts, in the kernel's own hexadecimal, on which a process and its children listen for TCP. */
export function listeningHosts(pid: number): readonly string[] {
  const inodes = new Set(withChildren(pid).flatMap(socketsOf))
  return ['tcp', 'tcp6'].flatMap(table =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map(row => row.trim().split(/\s+/))
      .filter(columns => columns[3] === LISTENS && inodes.has(columns[9] ?? ''))
      .map(columns => columns[1]?.split(':')[0] ?? ''),
  )
}

/** 127.0.0.1, as the kernel writes it. */
export const LOOPBACK = '0100007F'
const LISTENS = '0A'

function withChildren(pid: number): readonly number[] {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const children = tasks.flatMap(task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
  return [pid, ...children.filter(text => text !== '').flatMap(text => withChildren(Number(text)))]
}

function socketsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []
      return inode === undefined ? [] : [inode]
    } catch {
      return [] // closed while it was looked at
    }
  })
}
