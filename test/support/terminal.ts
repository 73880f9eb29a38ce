import { spawn } from '@lydell/node-pty'
import headless from '@xterm/headless'

/** A program on a real pseudo-terminal, and what a person sees there. */
export interface TestTerminal {
  /** The lines that are seen, from the top; without what is blank at their ends. */
  screen(): readonly string[]
  /** Those that have left at the top, too. */
  all(): readonly string[]
  /** Every byte that the program has written. */
  raw(): string
  /** Whether the program has the alternate screen, which leaves no trace. */
  isAlternate(): boolean
  press(keys: string): void
  resize(columns: number, rows: number): void
  signal(signal: NodeJS.Signals): void
  /** Resolves as soon as the screen is so; rejects with what is seen when it is not within a minute. */
  until(seen: (screen: readonly string[]) => boolean): Promise<void>
  /** The exit status, once all that was written is on the screen. */
  readonly ended: Promise<number>
  /** Ends the program, if it has not. */
  close(): Promise<void>
}

const LIMIT_MS = 60_000
const ESC = '\u001b'

/** Starts Node with these arguments on a terminal of that size. */
export function openTerminal(
  argv: readonly string[],
  given: {
    readonly cwd?: string
    readonly columns?: number
    readonly rows?: number
    readonly variables?: Readonly<Record<string, string>>
  } = {},
): TestTerminal {
  const { columns: cols = 80, rows = 24, cwd = process.cwd(), variables = {} } = given
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 1_000 })
  const child = spawn(process.execPath, [...argv], {
    ...{ name: variables.TERM ?? 'xterm-256color', cols, rows, cwd },
    env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false', ...variables },
  })
  const looks = new Set<() => void>()
  let raw = ''
  let hasEnded = false
  let written = Promise.resolve()
  child.onData(data => {
    raw += data
    written = written.then(() => new Promise(resolve => terminal.write(data, resolve)))
    void written.then(() => {
      for (const look of [...looks]) look()
    })
  })
  const ended = new Promise<number>(resolve => {
    child.onExit(({ exitCode, signal }) => {
      hasEnded = true
      // What is still to be read comes behind it.
      setImmediate(() => void written.then(() => resolve(signal ? 128 + signal : exitCode)))
    })
  })
  const linesFrom = (first: number): readonly string[] => {
    const buffer = terminal.buffer.active
    return Array.from({ length: buffer.length - first }, (_, row) =>
      (buffer.getLine(first + row)?.translateToString(true) ?? '').trimEnd(),
    )
  }
  const screen = () => linesFrom(terminal.buffer.active.baseY)
  return {
    screen,
    all: () => linesFrom(0),
    raw: () => raw,
    isAlternate: () => terminal.buffer.active.type === 'alternate',
    press: keys => child.write(keys),
    resize(columns, height) {
      terminal.resize(columns, height)
      child.resize(columns, height)
    },
    signal: name => child.kill(name),
    until: seen =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!seen(screen())) return
          clearTimeout(late)
          looks.delete(look)
          resolve()
        }
        const late = setTimeout(() => {
          looks.delete(look)
          reject(new Error(`not seen within ${LIMIT_MS / 1_000} s:\n${screen().join('\n')}`))
        }, LIMIT_MS)
        looks.add(look)
        look()
      }),
    ended,
    async close() {
      if (!hasEnded) child.kill('SIGKILL')
      await ended
      terminal.dispose()
    },
  }
}

/** Whether what was written leaves the terminal as it was found: cursor, wrapping, screen. */
export function isRestored(raw: string): boolean {
  return (
    [
      ['?25h', '?25l'],
      ['?7h', '?7l'],
      ['?1049l', '?1049h'],
    ] as const
  ).every(([back, taken]) => raw.lastIndexOf(`${ESC}[${back}`) >= raw.lastIndexOf(`${ESC}[${taken}`))
}
