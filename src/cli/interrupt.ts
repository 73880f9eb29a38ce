import { TroupeError } from '../errors.ts'

/** Ctrl-C, once and twice. */
export interface Interrupt {
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Lets signals do what they do by themselves again. */
  disarm(): void
}

/** `onFirst` once, `onSecond` at the second signal; a third ends the process whatever it is doing. */
export function armInterrupt(
  handlers: { readonly onFirst: () => void; readonly onSecond: () => void },
  source: NodeJS.EventEmitter = process,
): Interrupt {
  const controller = new AbortController()
  let seen = 0
  const receive = () => {
    seen += 1
    if (seen === 1) {
      handlers.onFirst()
      controller.abort(new TroupeError({ tag: 'interrupted', message: 'interrupted by the user' }))
    } else if (seen === 2) handlers.onSecond()
  }
  const disarm = () => {
    source.off('SIGINT', receive)
    source.off('SIGTERM', receive)
  }
  source.on('SIGINT', receive)
  source.on('SIGTERM', receive)
  return { signal: controller.signal, disarm }
}
