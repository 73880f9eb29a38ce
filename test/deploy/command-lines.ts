import type { Command } from 'commander'
import { leavesOf, pathOf } from '../../docs/site/reference/cli.ts'
import { loadProgram } from '../../docs/site/reference/make.ts'

/** What a command line comes to: which command, and its options as they are read. */
export interface Called {
  readonly command: string
  readonly options: Readonly<Record<string, unknown>>
}

/** Reads command lines as `troupe` would, and runs none. Rejects with what is wrong with one. */
export async function readCommandLine(argv: readonly string[]): Promise<Called> {
  const program = await loadProgram()
  let called: Called | undefined
  for (const leaf of leavesOf(program))
    leaf.exitOverride().action(() => {
      called = { command: pathOf(leaf), options: leaf.opts() }
    })
  await (program as Command).parseAsync([...argv], { from: 'user' })
  if (called === undefined) throw new Error(`${argv.join(' ')} calls no command`)
  return called
}
