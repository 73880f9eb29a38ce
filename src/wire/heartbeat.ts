import type { CancelTimer, Clock } from '../clock.ts'

export const HEARTBEAT_MS = 120_000
const HEARTBEAT_REPLY_MS = 5_000

export interface HeartbeatPorts {
  readonly clock: Clock
  readonly everyMs: number
  /**
   * Asks the peer for a sign of life, when the line is free for it: the 5 s for the answer count from when `sent` is called. An answer that is
   * an error is a sign of life.
   */
  readonly beat: (sent: () => void) => Promise<void>
  /** Called once, after which there are no more beats. */
  readonly onLost: (why: string) => void
}

/** Notices a peer that is gone without a word. Call what it returns to stop it. */
export function startHeartbeat({ clock, everyMs, beat, onLost }: HeartbeatPorts): () => void {
  let cancel: CancelTimer = () => {}
  let stopped = false
  const stop = () => {
    stopped = true
    cancel()
  }
  const lose = (why: string) => {
    if (stopped) return
    stop()
    onLost(why)
  }
  const schedule = () => {
    if (stopped) return
    cancel = clock.after(everyMs, () => {
      const sent = () => {
        if (stopped) return
        cancel = clock.after(HEARTBEAT_REPLY_MS, () =>
          lose(`it did not answer a heartbeat within ${HEARTBEAT_REPLY_MS} ms`),
        )
      }
      beat(sent).then(
        () => {
          cancel()
          schedule()
        },
        () => lose('the heartbeat could not be sent'),
      )
    })
  }
  schedule()
  return stop
}
