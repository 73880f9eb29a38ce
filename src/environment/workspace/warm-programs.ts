import type { CommandResult } from '../../wire/shell.ts'
import type { CleanRun } from '../workspace.ts'
import type { RoomPorts } from './clean-room.ts'
import { warmProgramEnded } from './errors.ts'
import type { RunningProcess } from './process.ts'
import { startWarmProgram, type WarmProgram } from './warm-program.ts'

export type WarmRun = CleanRun & { readonly warm: NonNullable<CleanRun['warm']>; readonly signal: AbortSignal }

/** The warm programs of a host: one for each that was asked for, started with its first run. */
export interface WarmPrograms {
  /** Rejects with `warm-program-ended` when the program cannot be had or dies: then nothing of the run counts. */
  run(run: WarmRun, peer: RunningProcess | undefined): ReturnType<WarmProgram['run']>
  /** Ends them and removes their directories. */
  close(): Promise<void>
}

/** What a process has loaded stays as it was, but what it leaks adds up; and its limit of CPU time counts on. */
const RUNS_OF_ONE = 500

interface Slot {
  readonly program: Promise<WarmProgram>
  runs: number
  active: number
}

export function makeWarmPrograms(ports: Omit<RoomPorts, 'name'>): WarmPrograms {
  const slots = new Map<string, Slot>()
  const ending = new Set<Promise<void>>()
  let isClosed = false

  function find({ argv, files, env }: WarmRun['warm'] & Pick<CleanRun, 'env'>): { key: string; slot: Slot } {
    const key = JSON.stringify([argv, [...files], env])
    const known = slots.get(key)
    if (known !== undefined && known.runs < RUNS_OF_ONE) return { key, slot: known }
    if (known !== undefined) retire(key, known)
    const program = startWarmProgram({ argv, files, env }, { ...ports, name: 'warm', trusted: true })
    const slot = { program, runs: 0, active: 0 }
    slots.set(key, slot)
    return { key, slot }
  }

  /** No new run goes there; it ends with its last. */
  function retire(key: string, slot: Slot): void {
    if (slots.get(key) === slot) slots.delete(key)
    if (slot.active === 0) end(slot)
  }

  function end(slot: Slot): void {
    const ended = slot.program.then(
      program => program.close(),
      () => {}, // told to the run that wanted it
    )
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }

  return {
    async run(run, peer): Promise<CommandResult & { readonly collected: ReadonlyMap<string, string> }> {
      if (isClosed) throw warmProgramEnded('the host is closed')
      const { key, slot } = find({ ...run.warm, env: run.env })
      slot.runs += 1
      slot.active += 1
      let program: WarmProgram | undefined
      try {
        program = await slot.program
        return await program.run(run, peer)
      } finally {
        slot.active -= 1
        if (program?.isOver() !== false) retire(key, slot)
        else if (slots.get(key) !== slot && slot.active === 0) end(slot)
      }
    },
    async close() {
      isClosed = true
      for (const slot of slots.values()) end(slot)
      slots.clear()
      await Promise.all(ending)
    },
  }
}
