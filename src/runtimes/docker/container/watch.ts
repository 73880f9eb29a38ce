import { sleep } from '../../../clock.ts'
import { TroupeError } from '../../../errors.ts'
import { type Engine, ifThere } from '../engine/engine.ts'
import type { End } from '../errors.ts'
import type { Output } from './output.ts'

/** How long an engine may be away, as when it is restarted, until its containers are given up. */
const ENGINE_AWAY_MS = 10_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/**
 * Follows a started container's log to its end, which comes with the container's: one connection each, that tells both what it wrote and that it is over.
 * Resolves with how it ended; rejects with the signal's reason alone.
 */
export async function watchContainer(engine: Engine, id: string, output: Output, signal: AbortSignal): Promise<End> {
  for (let first = true; ; first = false) {
    const broke = await follow(engine, id, output, { all: first, signal })
    signal.throwIfAborted()
    const end = await findEnd(engine, id, signal)
    if (end !== undefined) return end
    output.restart()
    // It runs: the log was turned over, or its end comes a moment before the container's.
    await sleep(engine.clock, broke ? LONGEST_PAUSE_MS : FIRST_PAUSE_MS, signal)
  }
}

/** How the container ended, or undefined while it runs. Rejects as calls to the engine do. */
export async function lookForEnd(engine: Engine, id: string, signal?: AbortSignal): Promise<End | undefined> {
  const container = engine.docker.getContainer(id)
  const inspect = (abortSignal: AbortSignal) => container.inspect({ abortSignal })
  const options = signal === undefined ? {} : { signal }
  const found = await ifThere(engine.ask(`look at the container ${id}`, inspect, options))
  if (found === undefined) return { kind: 'removed' }
  const { Running, ExitCode, OOMKilled, Error: said } = found.State
  return Running ? undefined : { kind: 'exited', exitCode: ExitCode, oomKilled: OOMKilled, said }
}

/** True when the stream broke, or never came. */
async function follow(
  { ask, docker }: Engine,
  id: string,
  output: Output,
  { all, signal }: { readonly all: boolean; readonly signal: AbortSignal },
): Promise<boolean> {
  const read = async (abortSignal: AbortSignal) => {
    const stream = await docker
      .getContainer(id)
      .logs({ follow: true, stdout: true, stderr: true, ...(all ? {} : { tail: 0 }), abortSignal })
    for await (const piece of stream) output.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    return false
  }
  return await ask(`follow the log of the container ${id}`, read, { signal, deadlineMs: 'none' }).catch(() => true) // a look tells why
}

async function findEnd(engine: Engine, id: string, signal: AbortSignal): Promise<End | undefined> {
  const { clock } = engine
  const until = clock.now() + ENGINE_AWAY_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await lookForEnd(engine, id, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TroupeError)) throw error
      if (clock.now() + pauseMs >= until) return { kind: 'engine-gone', cause: error.data }
    }
    await sleep(clock, pauseMs, signal)
  }
}
