import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface CliEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The result that `--json` ends with, of commands that tell events before it. */
export function resultOf(stdout: string): ReturnType<typeof JSON.parse> {
  const { type, result } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  if (type !== 'result') throw new Error(`the last line is no result: ${stdout.slice(-500)}`)
  return result
}

/** The built CLI. */
export const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** Runs the built CLI as a user would, in `cwd`, without a terminal. */
export function troupe(
  argv: readonly string[],
  options: {
    readonly cwd?: string
    readonly input?: string
    readonly variables?: Readonly<Record<string, string>>
  } = {},
): Promise<CliEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...argv], {
      cwd: options.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A key that a test plants turns no reports on: those that want them say so.
      env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false', NO_COLOR: '1', ...options.variables },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', exitCode => resolve({ exitCode, stdout, stderr }))
    child.stdin.on('error', () => {}) // A program that ends before it has read is no failure of the test.
    child.stdin.end(options.input ?? '')
  })
}
