import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The process of `follow-main.ts`. */
export interface Writer {
  /** Resolves when it is done. */
  tell(line: string): Promise<void>
  end(): Promise<void>
  kill(): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('./follow-main.js', import.meta.url))

export async function startWriter(directory: string, job = 'job-1'): Promise<Writer> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, directory, job], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const lines: string[] = []
  let wake = () => {}
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', line => {
      lines.push(line)
      wake()
    })
  const said = async (line: string) => {
    while (!lines.includes(line)) {
      if (child.exitCode !== null) throw new Error(`the writer ended with ${child.exitCode}: ${lines.join('; ')}`)
      await Promise.race([
        ended,
        new Promise<void>(resolve => {
          wake = resolve
        }),
      ])
    }
    lines.splice(lines.indexOf(line), 1)
  }
  await said('ready')
  return {
    async tell(line) {
      child.stdin?.write(`${line}\n`)
      await said(`done ${line}`)
    },
    async end() {
      child.stdin?.end('end\n')
      await ended
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
