import type { DeskMessage, DispatcherMessage, WorkerLoad, WorkerNote } from '../../actors/cluster-messages.ts'
import { type Clock, sleep } from '../clock.ts'
import type { JobEntry } from '../cluster/job-board.ts'
import type { NodeLinks } from '../cluster/node-links.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'

export interface BeatPorts {
  readonly entry: Pick<JobEntry, 'node' | 'redeliverMs'>
  readonly note: Omit<WorkerNote, 'credits'>
  readonly system: ActorSystem
  readonly links: NodeLinks
  readonly dispatcher: Ref<DispatcherMessage>
  readonly desk: Ref<DeskMessage>
  readonly clock: Clock
  readonly over: AbortSignal
  readonly credits: () => number
  readonly load: () => WorkerLoad
  /** Tells the stream that the groups here are still worked on. */
  readonly stillWorking: () => void
  /** The coordinator was not heard of for half of the time after which others have the groups. */
  readonly onSilent: (silentMs: number) => void
}

export interface WorkerBeat {
  /** The coordinator is alive. */
  sign(): void
  /** Resolves when `over` has ended it. */
  readonly ended: Promise<void>
}

const LONGEST_BEAT_MS = 1_000

/** A worker's signs of life: to its coordinator, anew after each loss of the link, and to the stream that has its plans. */
export function startBeat(ports: BeatPorts): WorkerBeat {
  const { clock, dispatcher, note, over } = ports
  const { node, redeliverMs } = ports.entry
  let heardAt = clock.now()
  let isUp = false

  function tell(): void {
    const load = ports.load()
    if (isUp) {
      dispatcher.tell({ type: 'worker-beat', node: note.node, credits: ports.credits(), load })
      return
    }
    isUp = true
    ports.links.connect(node)
    dispatcher.tell({ type: 'worker-up', worker: { ...note, credits: ports.credits() }, load, desk: ports.desk })
    void ports.system.terminated(dispatcher).then(() => {
      isUp = false
    })
  }

  async function beat(): Promise<void> {
    const pauseMs = Math.min(LONGEST_BEAT_MS, redeliverMs / 6)
    let workingAt = clock.now()
    let beatAt = clock.now()
    for (;;) {
      tell()
      await sleep(clock, pauseMs, over).catch(() => {
        // Only the signal ends the sleep.
      })
      if (over.aborted) return
      // One that stood still itself may find signs that have waited for it: others have its groups all the same.
      const silentMs = clock.now() - Math.min(heardAt, beatAt)
      beatAt = clock.now()
      if (silentMs > redeliverMs / 2) ports.onSilent(silentMs)
      if (clock.now() - workingAt < redeliverMs / 4) continue
      workingAt = clock.now()
      ports.stillWorking()
    }
  }

  return {
    sign() {
      heardAt = clock.now()
    },
    ended: beat(),
  }
}
