import { setMaxListeners } from 'node:events'
import type { Context } from '../../../src/emulator/context.ts'
import { makeFaults } from '../../../src/emulator/faults.ts'
import { makeLatency } from '../../../src/emulator/latency.ts'
import { makeSandboxes } from '../../../src/emulator/sandboxes.ts'
import { makeServers } from '../../../src/emulator/servers.ts'
import { makeTimelines } from '../../../src/emulator/timeline.ts'
import { makeWarmPools } from '../../../src/emulator/warm-pools.ts'
import { makeWorkspaceHost } from '../../../src/environment/workspace/index.ts'
import { randomIds } from '../../../src/ids.ts'
import { makeRandom } from '../../../src/random.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** Sandboxes and pools on a virtual clock. Nothing is run in them, so no process and no directory is made. */
export function makeScene() {
  const clock = new VirtualClock()
  const { signal } = new AbortController()
  setMaxListeners(0, signal) // as the emulator's own
  const problems: unknown[] = []
  const context: Context = {
    clock,
    wall: clock,
    signal,
    latency: makeLatency({ seed: 1, clock, signal }),
    timelines: makeTimelines(() => clock.now()),
    faults: makeFaults(1),
    random: makeRandom(1),
    ids: randomIds,
    regions: ['us'],
    quota: { cpu: 400, memory: 400, disk: 4_000 },
    servers: makeServers({ servers: 'shared', directory: '.' }),
    workspaces: makeWorkspaceHost(),
    events: { created: () => {}, changed: () => {} },
    background: work => void work.catch(error => problems.push(error)),
  }
  const sandboxes = makeSandboxes(context)
  return { clock, sandboxes, problems, pools: makeWarmPools(context, sandboxes) }
}
