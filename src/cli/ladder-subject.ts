/** What a ladder's processes work on, as data: it crosses from the command to the processes that it starts. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cell, Work } from '../ladder/level.ts'
import type { RuntimeArguments } from './runtime-options.ts'

export interface LadderSubject {
  readonly work: Work
  readonly runtime: RuntimeArguments
  /** The taskset's file. */
  readonly tasks: string
  /** What serves it; undefined where nothing is beside the tasks. */
  readonly environment?: string
  /** Of rollouts alone. */
  readonly agent?: string
  readonly agentConfig: Readonly<Record<string, unknown>>
  readonly group: number
  readonly threads?: number
  readonly seed: number
}

/** What a client's process is told. */
export interface LadderClientArgument {
  readonly subject: LadderSubject
  readonly cell: Cell
}

/** The smallest environment that comes with the package: what is measured is the way there and back. */
export const SMALLEST = fileURLToPath(new URL('../../../environments/arith', import.meta.url))
export const SMALLEST_AGENT = resolve(SMALLEST, 'adder.ts')
