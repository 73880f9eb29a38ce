import { planRefill } from '../emulator/refill-plan.ts'
import type { LatencyModel } from './latency-model.ts'
import type { Timeline } from './timeline.ts'

/** The pool that the provider itself keeps warm. */
export interface SimulatedProviderPool {
  /** Unclaimed members. */
  readonly ready: number
  open(size: number): void
  /** Takes a member, if there is one. */
  claim(): boolean
  /** Deletes its members. */
  close(): void
}

export interface ProviderPoolPorts {
  readonly onMember: () => void
  readonly onGone: () => void
  readonly deleteMs: () => number
}

/** How long claims may go on before one refill is planned for all that they took: the emulator's. */
const GATHER_MS = 200

export function makeProviderPool(
  timeline: Timeline,
  random: () => number,
  refill: LatencyModel['refill'],
  ports: ProviderPoolPorts,
): SimulatedProviderPool {
  let size = 0
  let ready = 0
  let coming = 0
  let gathering = false
  let isFilled = false

  function fill(): void {
    if (gathering) return
    gathering = true
    timeline.after(GATHER_MS, () => {
      gathering = false
      const missing = size - ready - coming
      if (missing <= 0) return
      coming += missing
      const plan = planRefill(missing, isFilled ? refill.again : refill.first, random)
      isFilled = true
      for (const { readyMs } of plan)
        timeline.after(readyMs, () => {
          coming -= 1
          if (ready >= size) return
          ready += 1
          ports.onMember()
        })
    })
  }

  return {
    get ready() {
      return ready
    },
    open(wanted) {
      size = wanted
      fill()
    },
    claim() {
      if (ready === 0) return false
      ready -= 1
      fill()
      return true
    },
    close() {
      size = 0
      for (; ready > 0; ready -= 1) timeline.after(ports.deleteMs(), ports.onGone)
    },
  }
}
