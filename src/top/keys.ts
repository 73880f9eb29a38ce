import type { ReadStream } from 'node:tty'

/** Keys as they are pressed, one at a time. */
export interface Keys {
  /** Lets the terminal do with keys what it did before. Twice is once. */
  close(): void
}

/** An escape sequence, as arrows and function keys send it, is one key; anything else is one letter a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how such keys begin
const KEY = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?|[^\u001b]/gsu

/** Reads the terminal letter by letter, without showing them. Ctrl-C is a key then, and no signal. */
export function readKeys(terminal: ReadStream, press: (key: string) => void): Keys {
  const receive = (bytes: Buffer) => {
    for (const [key] of bytes.toString('utf8').matchAll(KEY)) press(key)
  }
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', close)
    terminal.off('data', receive)
    terminal.setRawMode(false)
    // Otherwise it keeps the process alive.
    terminal.pause()
  }
  process.once('exit', close)
  terminal.setRawMode(true)
  terminal.on('data', receive)
  terminal.resume()
  return { close }
}
