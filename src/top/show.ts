import type { ReadStream } from 'node:tty'
import type { Clock } from '../clock.ts'
import type { FeedMessage } from '../feed/messages.ts'
import { type Keys, readKeys } from './keys.ts'
import { makeKnown } from './known.ts'
import { listsOf, type Paint, renderTop } from './render.ts'
import { openScreen, type Terminal } from './screen.ts'
import { FIRST_VIEW, pressKey } from './view.ts'

/** Where `troupe top` is shown. */
export interface TopPorts {
  readonly clock: Clock
  readonly terminal: Terminal
  /** Undefined: nobody is at the keys, and only a signal ends it. */
  readonly keyboard: ReadStream | undefined
  readonly paint: Paint
  /** Ends it. */
  readonly signal: AbortSignal
}

/** Two a second: more than that nobody reads. */
const REDRAW_MS = 500

/**
 * Shows on the whole terminal what the feed tells, until somebody quits or the signal aborts, and gives the terminal back. What was told last stays when the feed has
 * ended. Rejects with what ended the feed otherwise.
 */
export async function showTop(
  feed: (signal: AbortSignal) => AsyncIterable<FeedMessage>,
  ports: TopPorts,
): Promise<void> {
  const { clock, terminal, keyboard, paint } = ports
  const quit = new AbortController()
  const signal = AbortSignal.any([ports.signal, quit.signal])
  const known = makeKnown()
  const screen = openScreen(terminal)
  let view = FIRST_VIEW
  let keys: Keys | undefined
  let failure: { readonly cause: unknown } | undefined
  const draw = () => {
    const state = known.state()
    screen.draw(
      state === undefined ? paint.faint('waiting for the first news') : renderTop(state, screen.size, view, paint),
    )
  }
  let cancel = clock.after(REDRAW_MS, redraw)
  function redraw(): void {
    draw()
    cancel = clock.after(REDRAW_MS, redraw)
  }
  terminal.on('resize', draw)
  const reading = read()
  try {
    keys =
      keyboard === undefined
        ? undefined
        : readKeys(keyboard, key => {
            const asked = pressKey(view, key, listsOf(known.state()))
            if (asked?.type === 'quit') quit.abort()
            if (asked?.type !== 'view') return
            view = asked.view
            draw()
          })
    draw()
    await untilAborted(signal)
  } finally {
    cancel()
    terminal.off('resize', draw)
    keys?.close()
    screen.close()
    quit.abort()
    await reading
  }
  if (failure !== undefined) throw failure.cause

  async function read(): Promise<void> {
    try {
      let isFirst = true
      for await (const message of feed(signal)) {
        known.receive(message)
        if (isFirst) draw()
        isFirst = false
      }
    } catch (cause) {
      failure = { cause }
      quit.abort()
    }
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
