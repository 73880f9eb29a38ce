import type { Writable } from 'node:stream'
import { Presets, SingleBar } from 'cli-progress'
import type { Clock } from '../clock.ts'
import type { JobSnapshot } from '../job/snapshot.ts'
import { describePool } from '../report/pool.ts'
import { decimal, duration } from '../report/units.ts'

const EARLY_SHARE = 0.05
const REDRAW_MS = 250
const LINE_MS = 5_000

export interface ProgressPorts {
  readonly clock: Clock
  readonly stream: Writable
  /** A bar that redraws itself, or a line every five seconds. */
  readonly interactive: boolean
  /** Takes a bar away when it is stopped, for what follows says more. Default false. */
  readonly passing?: boolean
}

/** Shows how `snapshot` moves until it is stopped. */
export function showProgress(snapshot: () => JobSnapshot, ports: ProgressPorts): { stop(): void } {
  return ports.interactive ? showBar(snapshot, ports) : showLines(snapshot, ports)
}

/** The figures beside the bar, and the whole of a plain line after `done/planned runs`. */
export function describeProgress(now: JobSnapshot, elapsedMs: number): string {
  const rate = elapsedMs <= 0 ? 0 : (now.finishedRuns * 1000) / elapsedMs
  const left = now.plannedRuns - now.finishedRuns
  const pool = now.pool
  return [
    `${decimal(rate, 1)}/s`,
    `eta ${isTooEarly(now) || left === 0 ? '–' : duration((left * 1000) / rate)}`,
    `reward ${decimal(now.graded === 0 ? null : now.rewardSum / now.graded)}`,
    `${now.finishedRuns - now.graded} failed`,
    `${Math.min(now.inFlight, left)} in flight`,
    ...(pool === undefined ? [] : describePool(pool)),
  ].join(', ')
}

/** From the first few of many no rate can be told: they are the quick ones, or carry the start of everything. */
function isTooEarly({ finishedRuns, plannedRuns }: JobSnapshot): boolean {
  return finishedRuns === 0 || finishedRuns < plannedRuns * EARLY_SHARE
}

function showBar(snapshot: () => JobSnapshot, { clock, stream, passing = false }: ProgressPorts): { stop(): void } {
  const started = clock.now()
  const bar = new SingleBar(
    {
      // cli-progress asks for a socket of its own kind; it only writes.
      stream: stream as NodeJS.WriteStream,
      format: '{bar} {value}/{total} runs, {figures}',
      barsize: 20,
      hideCursor: true,
      autopadding: false,
      gracefulExit: false,
      clearOnComplete: passing,
    },
    Presets.shades_classic,
  )
  const first = snapshot()
  // Before the plan is made there is nothing to do, which is not the same as all of it done.
  bar.start(Math.max(1, first.plannedRuns), first.finishedRuns, { figures: describeProgress(first, 0) })
  const draw = () => {
    const now = snapshot()
    bar.setTotal(Math.max(1, now.plannedRuns))
    bar.update(now.finishedRuns, { figures: describeProgress(now, clock.now() - started) })
  }
  const stopPolling = poll(clock, REDRAW_MS, draw)
  return {
    stop() {
      stopPolling()
      draw()
      bar.stop()
    },
  }
}

function showLines(snapshot: () => JobSnapshot, { clock, stream, passing = false }: ProgressPorts): { stop(): void } {
  const started = clock.now()
  let last = -1
  const write = () => {
    const now = snapshot()
    last = now.finishedRuns
    stream.write(`${now.finishedRuns}/${now.plannedRuns} runs, ${describeProgress(now, clock.now() - started)}\n`)
  }
  const stopPolling = poll(clock, LINE_MS, write)
  return {
    stop() {
      stopPolling()
      if (!passing && snapshot().finishedRuns !== last) write()
    },
  }
}

function poll(clock: Clock, everyMs: number, act: () => void): () => void {
  let cancel = clock.after(everyMs, tick)
  function tick() {
    act()
    cancel = clock.after(everyMs, tick)
  }
  return () => cancel()
}
