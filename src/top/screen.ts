import type { Writable } from 'node:stream'
import type { Size } from './render.ts'

/** A terminal that can be drawn on. */
export type Terminal = Writable & { readonly columns?: number; readonly rows?: number }

/** The alternate screen of a terminal: what was there before is there again when it is closed. */
export interface Screen {
  readonly size: Size
  /** Draws all of it anew, without a flicker. A terminal that is busy is left alone until it has taken what came before. */
  draw(text: string): void
  /** Gives the terminal back. Twice is once. */
  close(): void
}

const USUAL: Size = { columns: 80, rows: 24 }
const ESC = '\u001b['
/** The alternate screen, no cursor, no wrapping at the right edge. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`
const HOME = `${ESC}H`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`

/** Takes the terminal. It is given back when the process ends, too, whatever ends it but a kill -9. */
export function openScreen(terminal: Terminal): Screen {
  let isOpen = true
  let isBusy = false
  const free = () => {
    isBusy = false
  }
  const close = () => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', close)
    terminal.off('drain', free)
    terminal.write(LEAVE)
  }
  process.once('exit', close)
  terminal.on('drain', free)
  terminal.write(ENTER)
  return {
    get size() {
      return { columns: terminal.columns || USUAL.columns, rows: terminal.rows || USUAL.rows }
    },
    draw(text) {
      if (!isOpen || isBusy) return
      const lines = text.split('\n').map(line => `${line}${CLEAR_LINE}`)
      isBusy = !terminal.write(`${HOME}${lines.join('\r\n')}${CLEAR_BELOW}`)
    },
    close,
  }
}
