import { isDeepStrictEqual } from 'node:util'
import { readContent } from '../../test/cluster/support/content.ts'

/** How two journals of the same job differ in content: no ids, times, workers or attempts are in it. */
export interface JournalDifference {
  /** Runs that were planned and are not there with a grade. */
  readonly lost: number
  /** Runs and groups in which they differ: task, seed, reward, outcome, answers, tokens, weights that acted, how a group ended. */
  readonly different: readonly string[]
  readonly runs: number
}

/** Rejects where a journal has a run or a group twice. */
export async function compareJournals(alone: string, other: string, planned: number): Promise<JournalDifference> {
  const [left, right] = [await readParts(alone), await readParts(other)]
  const places = new Set([...left.keys(), ...right.keys()])
  const different = [...places].filter(place => !isDeepStrictEqual(left.get(place), right.get(place)))
  const runs = [...right].flatMap(([place, value]) => (place.startsWith('run') ? [value] : []))
  const graded = runs.filter(run => run.outcome === 'graded' && typeof run.reward === 'number')
  return { lost: planned - graded.length, different, runs: runs.length }
}

type Part = Readonly<Record<string, unknown>>

async function readParts(directory: string): Promise<ReadonlyMap<string, Part>> {
  const { runs, groups } = await readContent(directory)
  const of = (kind: string, all: Readonly<Record<string, unknown>>) =>
    Object.entries(all).map(([place, value]): [string, Part] => {
      // One that was begun anew elsewhere may have been tried more often.
      const { attempt: _attempt, ...rest } = value as Part
      return [`${kind} ${place}`, rest]
    })
  return new Map([...of('run', runs), ...of('group', groups)])
}
