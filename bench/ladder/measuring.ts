import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareMeasuring } from '../../src/cli/ladder-ports.ts'
import { SMALLEST } from '../../src/cli/ladder-subject.ts'
import type { EmulatorSettings, LadderPorts } from '../../src/ladder/ports.ts'
import { startChild } from '../../src/ladder/process/child.ts'
import { PUBLISHED } from './options.ts'

/** Whatever takes part at one width has such an emulator, with the same seed, to itself. */
export function toEmulatorSettings(seed: number): EmulatorSettings {
  return { seed, speed: 1, environmentPath: join(SMALLEST, 'env.ts') }
}

const PUBLISHED_PROGRAM = fileURLToPath(new URL('./published-main.js', import.meta.url))

/** As of `troupe ladder --emulator`, and beside its strategies a client that works as the published one did. */
export async function toLadderPorts(
  { seed, transport }: { readonly seed: number; readonly transport: 'auto' | 'ssh' | 'websocket' },
  { signal, say }: Pick<LadderPorts, 'signal' | 'say'>,
): Promise<LadderPorts> {
  const work = { work: 'infra', group: 1, agentConfig: {} } as const
  const { ports } = await prepareMeasuring(undefined, { emulator: true, seed, transport }, work, { talk: say })
  return {
    ...ports,
    emulator: toEmulatorSettings(seed),
    signal,
    say,
    startClient: (cell, place) =>
      cell.strategy === PUBLISHED
        ? startChild(PUBLISHED_PROGRAM, { width: cell.width, place })
        : ports.startClient(cell, place),
  }
}
