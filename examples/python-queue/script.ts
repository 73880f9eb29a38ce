/** The training script as a child process: started again when it dies, as often as it may, and what it had leased handed out again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { TroupeError } from 'troupe'
import type { GroupQueue } from './queue.ts'

export interface ScriptOptions {
  readonly url: string
  readonly queue: Pick<GroupQueue, 'release'>
  readonly signal: AbortSignal
  /** Deaths that are borne. Default 3. */
  readonly restarts?: number
  readonly onStart?: (pid: number | undefined) => void
}

const PYTHON = process.env.PYTHON ?? 'python3'
const SCRIPT = 'examples/python-queue/train.py'

/** Resolves when the script has ended well, or the signal has ended it; rejects with `script-died` when it keeps dying. */
export async function runScript({ url, queue, signal, restarts = 3, onStart }: ScriptOptions): Promise<void> {
  for (let death = 0; ; death += 1) {
    const child = spawn(PYTHON, [SCRIPT, url], { stdio: ['ignore', 'inherit', 'inherit'] })
    const end = () => child.kill()
    signal.addEventListener('abort', end, { once: true })
    onStart?.(child.pid)
    try {
      const [code, killedBy] = await once(child, 'close')
      if (code === 0 || signal.aborted) return
      queue.release()
      if (death === restarts)
        throw new TroupeError({
          tag: 'script-died',
          message: `${SCRIPT} ended ${death + 1} times, the last time with ${killedBy ?? `status ${code}`}; what it writes above says why`,
        })
      console.log(`${SCRIPT} ended with ${killedBy ?? `status ${code}`}: starting it again`)
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
