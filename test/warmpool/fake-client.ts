import type { Cell, LevelFigures, PoolMoment, Prepared, Sample } from '../../src/ladder/level.ts'
import type { LadderPorts } from '../../src/ladder/ports.ts'
import type { ClientCalls, MeasureArgument } from '../../src/ladder/process/calls.ts'
import type { Child } from '../../src/ladder/process/child.ts'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'

/** What clients were asked, in the order of asking: `cold prepare 4`, `prewarm measure`, `prewarm measure on`, `cold end`. */
export type Asked = string[]

export interface Scene {
  readonly ports: LadderPorts
  readonly asked: Asked
  readonly said: string[]
  readonly interrupt: AbortController
}

/** Called with each call of a client before it is answered; what it throws or rejects with is the answer. */
export type OnCall = (what: string, scene: Scene) => Promise<void> | void

/** Ports whose clients answer in this process: a pool that holds what it was told, and loses a batch's worth when it does not settle. */
export function makeScene(onCall: OnCall = () => {}): Scene {
  const asked: Asked = []
  const said: string[] = []
  const interrupt = new AbortController()
  const ports: LadderPorts = {
    startClient: cell =>
      fakeClient(cell, what => {
        asked.push(what)
        return onCall(what, scene)
      }),
    signal: interrupt.signal,
    say: line => void said.push(line),
  }
  const scene: Scene = { ports, asked, said, interrupt }
  return scene
}

function fakeClient(cell: Cell, told: (what: string) => Promise<void> | void): Child<ClientCalls> {
  const name = `${cell.strategy}${cell.parents === undefined ? '' : `-${cell.parents}`}`
  let ready = 0
  let parents = 0
  const moment = (atMs: number): PoolMoment => ({ atMs, ready, creating: 0, leased: 0, deleting: 0, parents })
  const calls: ClientCalls = {
    'warm-up': async () => told(`${name} warm-up`),
    async prepare({ demand }): Promise<Prepared> {
      await told(`${name} prepare ${demand}`)
      const before = moment(0)
      const missing = cell.strategy === 'prewarm' ? (cell.size ?? cell.width) - ready : 0
      if (cell.strategy === 'prewarm') ready += missing
      if (cell.strategy === 'fork') parents = cell.parents ?? 0
      const tookMs = 100 * missing
      return { tookMs, cpuMs: 8 * missing, held: cell.strategy === 'cold' ? [] : [before, moment(tookMs)] }
    },
    async measure(how: MeasureArgument | undefined): Promise<LevelFigures> {
      const isSettled = how?.settle !== false
      await told(`${name} measure${isSettled ? '' : ' on'}`)
      const before = moment(0)
      const hits = Math.min(ready, cell.width)
      // Half of what was taken is there again when the next comes at once.
      ready = isSettled ? 0 : ready - hits + Math.floor(hits / 2)
      return toFigures(cell, hits, [before, moment(50)])
    },
  }
  return {
    pid: undefined,
    call: (call, argument) => Promise.resolve(calls[call](argument as never)) as never,
    end: async () => told(`${name} end`),
  }
}

/** A hit takes 10 ms, a create 1 s, a fork 1 s divided by the parents. */
function toFigures(cell: Cell, hits: number, held: readonly PoolMoment[]): LevelFigures {
  const other: LeaseKind = cell.strategy === 'fork' ? 'fork' : 'cold'
  const otherMs = cell.strategy === 'fork' ? 1_000 / (cell.parents ?? 1) : 1_000
  const samples = Array.from({ length: cell.width }, (_, index): Sample => {
    const usableMs = index < hits ? 10 : otherMs
    const kind = index < hits ? 'hit' : other
    return { sandbox: `s${index}`, askedAtMs: 0, stages: { lease: usableMs, hello: usableMs }, usableMs, kind }
  })
  return {
    samples,
    failures: [],
    wallMs: 1_500,
    cpuMs: cell.width * 3,
    peakRssBytes: 2,
    restRssBytes: 1,
    loopP99Ms: 0,
    loopMaxMs: 0,
    errors: {},
    leaked: 0,
    pool: { created: cell.width - hits, createFailures: 0, owned: 0 },
    held,
  }
}
