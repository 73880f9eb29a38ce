import type { Duplex, Writable } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { Binding } from '../wire/binding.ts'
import { openSshTerminal, type SshTerminal, type WindowSize } from '../wire/ssh-terminal.ts'

/** Joins this process's stdin to a shell until that ends; a terminal at both ends where there is one at this. Rejects with the signal's reason. */
export async function playShell(
  { stream, binding }: { readonly stream: Duplex; readonly binding: Binding },
  ports: { readonly clock: Clock; readonly screen: Writable; readonly signal: AbortSignal },
): Promise<void> {
  const { screen, signal } = ports
  const keyboard = process.stdin
  const terminal = await openSshTerminal(stream, binding, ports.clock, windowOf(screen))
  const leaveRaw = keyboard.isTTY === true ? enterRaw(keyboard) : () => {}
  const resize = () => {
    const size = windowOf(screen)
    if (size !== undefined) terminal.resize(size.columns, size.rows)
  }
  screen.on('resize', resize)
  try {
    keyboard.pipe(terminal.channel)
    terminal.channel.pipe(screen, { end: false })
    terminal.stderr.pipe(screen, { end: false })
    await untilOver(terminal, signal)
  } finally {
    keyboard.unpipe(terminal.channel)
    keyboard.pause()
    leaveRaw()
    screen.off('resize', resize)
    terminal.close()
  }
}

/** Undefined where nobody looks: then the shell reads its commands to their end. */
function windowOf(screen: Writable): WindowSize | undefined {
  if (process.stdin.isTTY !== true || !('columns' in screen) || !('rows' in screen)) return undefined
  const { columns, rows } = screen
  if (typeof columns !== 'number' || typeof rows !== 'number') return undefined
  return { columns, rows, term: process.env.TERM ?? 'xterm' }
}

/** Every key goes to the shell, Ctrl-C too. */
function enterRaw(keyboard: NodeJS.ReadStream): () => void {
  keyboard.setRawMode(true)
  return () => void keyboard.setRawMode(false)
}

function untilOver({ ended }: SshTerminal, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    ended.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
