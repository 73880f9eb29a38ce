import { Presets, SingleBar } from 'cli-progress'
import type { Clock } from '../../clock.ts'
import type { Console } from '../console.ts'
import { type ProgressView, toBar, toLine } from './view.ts'

/** Where progress is shown. */
export interface ProgressPorts {
  readonly clock: Clock
  readonly console: Pick<Console, 'stderr' | 'interactive' | 'columns' | 'keepBelow'>
  /** Leaves nothing behind when it is stopped, for what follows says more. Default false. */
  readonly passing?: boolean
}

/** What is shown until it is stopped. */
export interface Shown {
  stop(): void
}

const REDRAWS_A_SECOND = 4
const LINE_MS = 5_000

/** Shows how `view` moves until it is stopped: on a terminal as a bar that redraws itself, else as a line every five seconds. */
export function showProgress(view: () => ProgressView, ports: ProgressPorts): Shown {
  return ports.console.interactive ? showBar(view, ports) : showLines(view, ports)
}

function showBar(view: () => ProgressView, { console, passing = false }: ProgressPorts): Shown {
  const line = () => toBar(view(), console.columns())
  const bar = new SingleBar(
    {
      // cli-progress asks for a socket of its own kind; it only writes.
      stream: console.stderr as NodeJS.WriteStream,
      // It looks again for each redraw, so that a terminal that was made wider or narrower is followed.
      format: line,
      fps: REDRAWS_A_SECOND,
      hideCursor: true,
      forceRedraw: true,
      gracefulExit: false,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  const draw = () => bar.start(1, 0)
  // Twice is once. It shows the cursor again, too.
  const clear = () => bar.stop()
  const stopGuarding = guard(clear)
  console.keepBelow({ clear, draw })
  draw()
  return {
    stop() {
      stopGuarding()
      console.keepBelow(undefined)
      clear()
      if (!passing) console.stderr.write(`${line()}\n`)
    },
  }
}

/** Clears before the process ends, also by a signal that nobody else listens to. */
function guard(clear: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const hear = (signal: NodeJS.Signals) => {
    // Others know what to do with it: the command goes on, or ends in order.
    if (process.listenerCount(signal) > 1) return
    clear()
    stop()
    process.kill(process.pid, signal)
  }
  const stop = () => {
    process.off('exit', clear)
    for (const signal of signals) process.off(signal, hear)
  }
  process.once('exit', clear)
  for (const signal of signals) process.on(signal, hear)
  return stop
}

function showLines(view: () => ProgressView, { clock, console, passing = false }: ProgressPorts): Shown {
  let last = ''
  const write = () => {
    const now = view()
    last = keyOf(now)
    console.stderr.write(`${toLine(now)}\n`)
  }
  const stopPolling = poll(clock, LINE_MS, write)
  return {
    stop() {
      stopPolling()
      if (!passing && keyOf(view()) !== last) write()
    },
  }
}

/** What makes the last line worth another. */
const keyOf = ({ stage, done, total }: ProgressView): string => `${stage} ${done} ${total}`

/** Acts again and again until it is told to stop. */
export function poll(clock: Clock, everyMs: number, act: () => void): () => void {
  let cancel = clock.after(everyMs, tick)
  function tick() {
    act()
    cancel = clock.after(everyMs, tick)
  }
  return () => cancel()
}
