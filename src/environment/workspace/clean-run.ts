import { hasTag } from '../../errors.ts'
import type { CommandResult } from '../../wire/shell.ts'
import type { CleanRun } from '../workspace.ts'
import { collectFiles, makeRoom, type Room, type RoomPorts } from './clean-room.ts'
import { holdOutput } from './hold-output.ts'
import type { RunningProcess } from './process.ts'
import { runToEnd } from './run-to-end.ts'
import type { WarmPrograms } from './warm-programs.ts'

export interface CleanRunPorts extends RoomPorts {
  readonly warmPrograms: WarmPrograms
}

type Result = CommandResult & { readonly collected: ReadonlyMap<string, string> }

/**
 * Runs a program, and its peer if it has one, each in a fresh directory with a user of its own where that is possible. The
 * pair takes one turn at the gate: if each waited for its own, pairs could hold one turn each and wait for ever.
 */
export async function runClean(
  run: CleanRun & { readonly signal: AbortSignal },
  ports: CleanRunPorts,
): Promise<Result> {
  const { warm } = run
  if (warm === undefined) return runCold(run, ports)
  try {
    return await withPeer(run, ports, peer => ports.warmPrograms.run({ ...run, warm }, peer))
  } catch (error) {
    // The program that forks is gone, by no fault of this run: it starts by itself instead.
    if (hasTag(error, 'warm-program-ended')) return runCold(run, ports)
    throw error
  }
}

async function runCold(run: CleanRun & { readonly signal: AbortSignal }, ports: CleanRunPorts): Promise<Result> {
  const room = await makeRoom(ports, run.files)
  try {
    return await withPeer(run, ports, async peer => {
      const started = room.start(run.argv, run.env, peer === undefined ? 0 : 2)
      if (peer !== undefined) connect(started, peer)
      const result = await runToEnd(started, { timeoutMs: run.timeoutMs, signal: run.signal }, ports.clock, peer)
      return { ...result, collected: collectFiles(room.files, run.collect) }
    })
  } finally {
    await room.remove()
  }
}

/** `body` with the peer started; afterwards the peer is gone, and its directory. */
async function withPeer(
  { peer, env, signal }: CleanRun & { readonly signal: AbortSignal },
  ports: RoomPorts,
  body: (peer: RunningProcess | undefined) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  if (peer === undefined) return body(undefined)
  const room: Room = await makeRoom(ports, peer.files)
  let started: RunningProcess | undefined
  try {
    signal.throwIfAborted()
    // The judge may come when its peer has ended already, which is then for the judge to see.
    started = holdOutput(room.start(peer.argv, env, 0))
    return await body(started)
  } finally {
    started?.kill()
    started?.stdout.resume()
    await started?.ended.catch(() => {}) // reported by the run itself; here only waited for
    await room.remove()
  }
}

/**
 * Crosswise, through this process: the two share no descriptor, so that neither can pass the other one, and a descriptor that
 * libuv made non-blocking for itself never reaches a program. Back-pressure is `pipe`'s. When the peer ends, the first reads
 * an end of file on descriptor 3. The peer's stderr is nobody's.
 */
function connect(first: RunningProcess, peer: RunningProcess): void {
  const [toFirst, fromFirst] = first.extra
  if (toFirst === undefined || fromFirst === undefined) return
  peer.stdout.pipe(toFirst)
  toFirst.resume()
  fromFirst.pipe(peer.stdin)
  peer.stderr.resume()
  // A broken pipe unpipes and leaves its source paused, and a process counts as ended only when its output was read.
  toFirst.once('close', () => peer.stdout.resume())
  peer.stdin.once('close', () => fromFirst.resume())
}
