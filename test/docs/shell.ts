/** A shell that a page is typed into: each script begins where the one before ended, in the same directory and with the same variables. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { quote } from '../../src/quote.ts'

export interface Printed {
  readonly code: number
  readonly stdout: string
  /** What a terminal would have shown. */
  readonly both: string
}

export interface Shell {
  /** Runs it to its end. Rejects where it takes longer than `deadlineMs`; whatever it started is ended then. */
  run(script: string, deadlineMs: number): Promise<Printed>
  /** Starts it, and resolves when it has printed its first line. */
  start(script: string, deadlineMs: number): Promise<void>
  set(variables: Readonly<Record<string, string>>): void
  /** The directory that the next script begins in. */
  directory(): string
  /** Ends what runs in the background, in order; rejects where something does not end, or ended before. */
  end(): Promise<void>
}

interface Started {
  readonly child: ChildProcess
  readonly script: string
  readonly printed: { both: string }
}

const END_MS = 15_000

export function openShell(stateFile: string, directory: string, variables: NodeJS.ProcessEnv): Shell {
  writeFileSync(stateFile, `cd ${quote(directory)}\n`)
  const background: Started[] = []

  function spawnScript(script: string): ChildProcess {
    const state = quote(stateFile)
    // The line that fails is told, as a person would see it.
    const wrapped = `. ${state}
trap 'code=$?; { export -p; printf "cd %q\\n" "$PWD"; } > ${state}; exit $code' EXIT
set -eo pipefail
${script}
`
    return spawn('bash', ['-c', wrapped], { env: variables, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  }

  return {
    async run(script, deadlineMs) {
      const child = spawnScript(script)
      const text = { stdout: '', both: '' }
      child.stdout?.setEncoding('utf8').on('data', (more: string) => {
        text.stdout += more
        text.both += more
      })
      child.stderr?.setEncoding('utf8').on('data', (more: string) => {
        text.both += more
      })
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        signalGroup(child, 'SIGKILL')
      }, deadlineMs)
      const [code] = await once(child, 'close')
      clearTimeout(timer)
      if (isLate) throw new Error(`it took longer than ${deadlineMs / 1_000} s:\n${script}\n${text.both}`)
      return { code: code ?? -1, ...text }
    },
    async start(script, deadlineMs) {
      // Replaces the shell, so that a signal reaches it alone, as Ctrl-C would.
      const child = spawnScript(`exec ${script}`)
      const printed = { both: '' }
      background.push({ child, script, printed })
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`it printed nothing within ${deadlineMs / 1_000} s: ${script}`)),
          deadlineMs,
        )
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (more: string) => {
            printed.both += more
            if (!printed.both.includes('\n')) return
            clearTimeout(timer)
            resolve()
          })
        child.once('close', () => {
          clearTimeout(timer)
          reject(new Error(`it ended before it had printed a line: ${script}\n${printed.both}`))
        })
      })
    },
    set(more) {
      const lines = Object.entries(more).map(([name, value]) => `export ${name}=${quote(value)}\n`)
      writeFileSync(stateFile, lines.join(''), { flag: 'a' })
    },
    directory() {
      const [, path] =
        /^cd (.*)$/m.exec(
          readFileSync(stateFile, 'utf8')
            .split('\n')
            .findLast(line => line.startsWith('cd ')) ?? '',
        ) ?? []
      return (path ?? directory).replace(/^'(.*)'$/, '$1')
    },
    async end() {
      const ends = background.splice(0).map(endStarted)
      const failed = (await Promise.allSettled(ends)).flatMap(end =>
        end.status === 'rejected' ? [String(end.reason)] : [],
      )
      if (failed.length > 0) throw new Error(failed.join('\n'))
    },
  }
}

async function endStarted({ child, printed, script }: Started): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error(`it ended by itself, with ${child.exitCode ?? child.signalCode}: ${script}\n${printed.both}`)
  const closed = once(child, 'close')
  child.kill('SIGINT')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), END_MS)
  const [code, signal] = await closed
  clearTimeout(timer)
  if (signal === 'SIGKILL') throw new Error(`it did not end within ${END_MS / 1_000} s of SIGINT: ${script}`)
  if (![0, 130, null].includes(code)) throw new Error(`it ended with ${code}: ${script}\n${printed.both}`)
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: the whole group has ended.
  }
}
