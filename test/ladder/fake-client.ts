import type { Cell, LevelFigures, Prepared } from '../../src/ladder/level.ts'
import type { LadderPorts } from '../../src/ladder/ports.ts'
import type { ClientCalls } from '../../src/ladder/process/calls.ts'
import type { Child } from '../../src/ladder/process/child.ts'
import { makeLevel, makeSample } from './scene.ts'

/** What a fake client does instead of what it would answer; throws to fail. */
export interface FakeClient {
  readonly onWarmUp?: (cell: Cell) => void
  readonly onMeasure?: (cell: Cell) => Partial<LevelFigures> | Promise<Partial<LevelFigures>>
}

/** Ports whose clients live in this process and whose every call is written down. */
export function makeFakePorts({ onWarmUp, onMeasure }: FakeClient = {}) {
  const calls: string[] = []
  const said: string[] = []
  const interrupt = new AbortController()

  function startClient(cell: Cell): Child<ClientCalls> {
    const name = `${cell.strategy} ${cell.width}`
    const prepared: Prepared = { tookMs: 10, cpuMs: 1, held: [] }
    const answers: ClientCalls = {
      'warm-up': async () => onWarmUp?.(cell),
      prepare: async () => prepared,
      async measure() {
        const { cell: _, repetition: __, ...figures } = makeLevel(cell, { samples: [makeSample(cell.width)] })
        return { ...figures, ...(await onMeasure?.(cell)) }
      },
    }
    const call = async (what: keyof ClientCalls, argument: unknown): Promise<never> => {
      calls.push(`${name} ${what}`)
      return (await answers[what](argument as never)) as never
    }
    return { pid: undefined, call, end: async () => void calls.push(`${name} end`) }
  }

  const ports: LadderPorts = { startClient, signal: interrupt.signal, say: line => void said.push(line) }
  return { ports, calls, said, interrupt: () => interrupt.abort(new Error('enough')) }
}
