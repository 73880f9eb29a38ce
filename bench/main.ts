/**
 * `npm run bench -- <name…> [--quick]`: each named benchmark prints one table. Without a name, all of them. The other options are
 * those of `daytona`: see its `options.ts`.
 */
import { parseArgs } from 'node:util'
import { hasTag } from '../src/errors.ts'
import type { LadderArguments } from './daytona/options.ts'
import { type BenchTable, printTable } from './table.ts'

type Bench = (options: LadderArguments) => Promise<BenchTable>

const BENCHES: Record<string, () => Promise<Bench>> = {
  kernel: async () => (await import('./kernel.ts')).kernelBench,
  wire: async () => (await import('./wire.ts')).wireBench,
  batcher: async () => (await import('./batcher.ts')).batcherBench,
  journal: async () => (await import('./journal.ts')).journalBench,
  engine: async () => (await import('./engine.ts')).engineBench,
  rollouts: async () => (await import('./rollouts.ts')).rolloutsBench,
  body: async () => (await import('./body.ts')).bodyBench,
  overlap: async () => (await import('./overlap.ts')).overlapBench,
  daytona: async () => (await import('./daytona.ts')).daytonaBench,
  peers: async () => (await import('./peers.ts')).peersBench,
  tune: async () => (await import('./tune.ts')).tuneBench,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    widths: { type: 'string' },
    repetitions: { type: 'string' },
    modes: { type: 'string' },
    transport: { type: 'string' },
    seed: { type: 'string' },
    out: { type: 'string' },
  },
})
const names = positionals.length === 0 ? Object.keys(BENCHES) : positionals
const unknown = names.filter(name => BENCHES[name] === undefined)
if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exitCode = 2
} else {
  for (const name of names) {
    const bench = await BENCHES[name]?.()
    try {
      if (bench !== undefined) printTable(await bench(values))
    } catch (error) {
      if (!hasTag(error, 'bench-option')) throw error
      console.error(error.message)
      process.exitCode = 2
    }
  }
}
