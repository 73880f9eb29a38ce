import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { hide, hideKnown } from '../redact.ts'

/** The two ways out of a command: results on one, talk on the other. No secret that this process knows of leaves by either. */
export interface Console {
  /** Results, for people and programs: stdout. Waits while the reader is slow. */
  print(text: string): Promise<void>
  /** Everything else: stderr. */
  talk(text: string): void
  readonly stdout: Writable
  readonly stderr: Writable
  /** Whether results may be coloured, and whether talk may redraw its line. */
  readonly colours: boolean
  readonly interactive: boolean
}

interface Terminal extends Writable {
  readonly isTTY?: boolean
}

export function makeConsole(stdout: Terminal, stderr: Terminal, env: NodeJS.ProcessEnv): Console {
  // A reader such as `head` that has seen enough is not an error; there is nobody left to print to.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  return {
    stdout,
    stderr,
    colours: stdout.isTTY === true && !env.NO_COLOR,
    interactive: stderr.isTTY === true && env.TERM !== 'dumb',
    talk: text => void stderr.write(toLine(hide(text))),
    async print(text) {
      if (stdout.destroyed) return
      if (!stdout.write(toLine(hideKnown(text))) && !stdout.destroyed)
        await Promise.race([once(stdout, 'drain'), once(stdout, 'close')])
    },
  }
}

function toLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
