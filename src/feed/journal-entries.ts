import type { Clock } from '../clock.ts'
import type { GroupId, RunId } from '../ids.ts'
import type { JobRecord } from '../journal/journal.ts'
import type { LmdbJournal } from '../journal/lmdb-journal.ts'
import { type Hider, makeHider } from '../redact.ts'
import {
  EVALUATIONS_PREFIX,
  parseEvaluations,
  parseStepMarks,
  parseStepRecords,
  stepPrefix,
} from '../training/loop/marks.ts'
import type { FeedBook } from './book.ts'
import type { FeedRun } from './messages.ts'
import type { Rate } from './rate.ts'
import { toFeedChunk, toFeedGroup, toFeedRun } from './to-feed.ts'

/** Reads what a job's journal has got since it was last read. */
export interface JournalEntries {
  /** Writes it into the book, in the order of its ends. False: nothing was committed since. */
  read(): Promise<boolean>
  /** The step of a training that is open, or was last; null where there is none. */
  step(isOver: boolean): number | null
  /** Reads all of it again next time. */
  forget(): void
}

/** Headers decoded before others of this thread have a turn. */
const AT_ONCE = 500

export function makeJournalEntries(
  { journal, job, clock }: { readonly journal: LmdbJournal; readonly job: JobRecord; readonly clock: Clock },
  book: FeedBook,
  rate: Rate,
): JournalEntries {
  const { jobId } = job
  let version: number | undefined
  const runs = new Set<RunId>()
  const groups = new Set<GroupId>()
  /** Calls of the open step that were told. */
  const chunks = new Set<number>()
  const evaluations = new Set<string>()
  /** The first step that is not over. */
  let openStep = 0
  let isTraining = false

  async function readRuns(hider: Hider): Promise<void> {
    const found: { readonly run: FeedRun; readonly tag: string | undefined }[] = []
    for (const header of journal.news.unseenRuns(jobId, runId => runs.has(runId))) {
      runs.add(header.runId)
      found.push({ run: toFeedRun(header, hider), tag: header.error?.tag })
      if (found.length % AT_ONCE === 0) await nextTurn()
    }
    found.sort((one, other) => one.run.endedAt - other.run.endedAt)
    for (const { run, tag } of found) {
      book.runs.add(run)
      book.failures.add(run, tag)
      rate.add(run.endedAt)
    }
  }

  async function readGroups(at: number): Promise<void> {
    const found = []
    for (const group of journal.news.unseenGroups(jobId, groupId => groups.has(groupId))) {
      groups.add(group.groupId)
      found.push(toFeedGroup(group, at))
      if (found.length % AT_ONCE === 0) await nextTurn()
    }
    found.sort((one, other) => one.endedAt - other.endedAt)
    for (const group of found) book.groups.add(group)
  }

  async function readSteps(at: number, hider: Hider): Promise<void> {
    for (;;) {
      const records = await list(stepPrefix(openStep))
      if (records.size === 0) return
      isTraining = true
      for (const mark of parseStepMarks(records).calls) {
        const chunk = chunks.has(mark.call) ? undefined : toFeedChunk(openStep, mark, at, hider)
        if (chunk === undefined) continue
        chunks.add(mark.call)
        book.chunks.add(chunk)
      }
      const [record] = parseStepRecords(records)
      if (record === undefined) return
      book.steps.add(record)
      openStep += 1
      chunks.clear()
    }
  }

  async function readEvaluations(): Promise<void> {
    const records = await list(EVALUATIONS_PREFIX)
    for (const key of evaluations) records.delete(key)
    for (const record of parseEvaluations(records)) book.evaluations.add(record)
    for (const key of records.keys()) evaluations.add(key)
  }

  async function list(prefix: string): Promise<Map<string, unknown>> {
    const found = new Map<string, unknown>()
    for await (const { key, value } of journal.records(jobId, prefix)) found.set(key, value)
    return found
  }

  return {
    async read() {
      // Taken before: what is committed while it is read is read again next time.
      const seen = journal.news.version()
      if (seen === version) return false
      const hider = makeHider()
      const at = clock.wallTime()
      await readRuns(hider)
      await readGroups(at)
      await readSteps(at, hider)
      await readEvaluations()
      version = seen
      return true
    },
    step(isOver) {
      if (!isTraining) return null
      return isOver && openStep > 0 ? openStep - 1 : openStep
    },
    forget() {
      version = undefined
      for (const seen of [runs, groups, chunks, evaluations]) seen.clear()
      openStep = 0
      isTraining = false
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
