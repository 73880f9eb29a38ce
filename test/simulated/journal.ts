import { TroupeError } from '../../src/errors.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import type { SimulatedNode } from './node.ts'
import type { RolloutFaults } from './scenario.ts'
import type { World } from './world.ts'

/** The disk that all threads write to. */
export interface SimulatedDisk {
  /** What is durable, at once. */
  readonly kept: Journal
  /** The journal as one node sees it: every call takes its time, and writes may fail. */
  open(node: SimulatedNode): Journal
}

/** A write that is under way when its thread is lost has reached the disk, or never will. */
export function makeSimulatedDisk(world: World, faults: RolloutFaults): SimulatedDisk {
  const kept = openMemoryJournal()

  async function write(node: SimulatedNode, what: string, commit: () => Promise<void>): Promise<void> {
    let isOpen = true
    node.onLost(() => {
      if (isOpen && world.chance(0.5)) void commit()
    })
    try {
      await node.wait(world.duration(faults.journalMs), `writes ${what}`)
    } finally {
      isOpen = false
    }
    // A full disk ends the run, another failure the group.
    if (world.chance(faults.failedWrites))
      throw new TroupeError({ tag: world.chance(0.3) ? 'journal-disk-full' : 'io', message: 'cannot write' })
    await commit()
  }

  return {
    kept,
    open: node => ({
      ...kept,
      putRun(header, trajectory) {
        // Written from where it is, until the write is over.
        return write(node, header.runId, () => kept.putRun(header, trajectory))
      },
      putGroup: group => write(node, group.groupId, () => kept.putGroup(group)),
      async run(runId) {
        await node.wait(world.duration(faults.journalMs), `reads ${runId}`)
        return kept.run(runId)
      },
    }),
  }
}
