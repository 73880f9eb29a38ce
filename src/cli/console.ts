import type { Writable } from 'node:stream'
import { hide, hideKnown } from '../redact.ts'

/** The two ways out of a command: results on one, talk on the other. No secret that this process knows of leaves by either. */
export interface Console {
  /** Results, for people and programs: stdout. Waits while the reader is slow. */
  print(text: string): Promise<void>
  /** Everything else: stderr. Not said with `--quiet`. */
  talk(text: string): void
  /** Said on stderr whatever was asked for: what went wrong, and the addresses and paths that somebody needs. */
  need(text: string): void
  readonly stdout: Writable
  readonly stderr: Writable
  /** Whether results may be coloured, and whether talk may redraw its line. */
  readonly colours: boolean
  readonly interactive: boolean
  /** How wide the terminal is that talk goes to, now: it may be made wider or narrower. 80 where it does not say. */
  columns(): number
  /** Keeps a line that redraws itself below what is printed and said; nothing does any more after `undefined`. */
  keepBelow(line: BottomLine | undefined): void
}

/** What stands below all else on a terminal. */
export interface BottomLine {
  clear(): void
  draw(): void
}

interface Terminal extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

const USUAL_COLUMNS = 80

export function makeConsole(stdout: Terminal, stderr: Terminal, env: NodeJS.ProcessEnv): Console {
  /** Whose reader has gone. */
  const gone = new Set<Writable>()
  // A reader such as `head` that has seen enough is not an error; there is nobody left to print to.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      gone.add(stream)
    })
  let below: BottomLine | undefined

  /** Whatever is written in the middle of a line that redraws itself would be written into it. */
  function above<Result>(write: () => Result): Result {
    below?.clear()
    try {
      return write()
    } finally {
      below?.draw()
    }
  }

  const need = (text: string) => above(() => void stderr.write(toLine(hide(text))))
  return {
    stdout,
    stderr,
    colours: stdout.isTTY === true && !env.NO_COLOR,
    interactive: stderr.isTTY === true && env.TERM !== 'dumb',
    columns: () => stderr.columns || USUAL_COLUMNS,
    keepBelow(line) {
      below = line
    },
    need,
    talk: need,
    async print(text) {
      if (stdout.destroyed || gone.has(stdout)) return
      const write = () => stdout.write(toLine(hideKnown(text)))
      const isTaken = stdout.isTTY === true ? above(write) : write()
      if (!isTaken && !stdout.destroyed) await untilRead(stdout)
    },
  }
}

/** Until the reader has taken what waits, or is gone. */
function untilRead(stream: Writable): Promise<void> {
  return new Promise(resolve => {
    const names = ['drain', 'close', 'error'] as const
    const end = () => {
      for (const name of names) stream.off(name, end)
      resolve()
    }
    for (const name of names) stream.on(name, end)
  })
}

/** The same without talk. */
export function quietly(console: Console): Console {
  return { ...console, talk() {} }
}

function toLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
