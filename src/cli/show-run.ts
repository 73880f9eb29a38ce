import { renderRun } from '../report/render-run.ts'
import { unpackTrajectory } from '../rollout/pack.ts'
import type { Cli } from './cli.ts'
import type { ShowArguments } from './commands/show.ts'
import { findRun, readJournal } from './journal-reader.ts'

export async function showRun(text: string, options: ShowArguments, { console, clock }: Cli): Promise<void> {
  await readJournal(options.journal, clock, async journal => {
    const { header, trajectory } = await findRun(journal, text)
    const run = { ...header, trajectory: unpackTrajectory(trajectory) }
    await console.print(options.json === true ? JSON.stringify(run, plainArrays) : renderRun(run, console.colours))
  })
}

/** Typed arrays would come out as objects with numbers for keys. */
function plainArrays(_key: string, value: unknown): unknown {
  return value instanceof Uint32Array || value instanceof Float32Array ? Array.from(value) : value
}
