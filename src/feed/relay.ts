import type { FeedBook } from './book.ts'
import type { FeedState, FeedTick } from './messages.ts'

/** Makes the book say what a state from elsewhere says. */
export function loadState(book: FeedBook, state: FeedState): void {
  book.clear()
  book.job = state.job
  const { steps, evaluations } = state.training
  applyTick(book, { ...state, steps, evaluations })
}

/** Writes into the book what a tick from elsewhere says. */
export function applyTick(book: FeedBook, tick: Omit<FeedTick, 'at' | 'now'>): void {
  for (const run of tick.runs ?? []) book.runs.add(run)
  for (const group of tick.groups ?? []) book.groups.add(group)
  for (const chunk of tick.chunks ?? []) book.chunks.add(chunk)
  for (const record of tick.steps ?? []) book.steps.add(record)
  for (const record of tick.evaluations ?? []) book.evaluations.add(record)
  for (const failure of tick.failures ?? []) book.failures.put(failure)
  for (const problem of tick.problems ?? []) book.problems.add(problem)
  if (tick.live !== undefined) book.setLive(tick.live)
  if (tick.workers !== undefined) book.setWorkers(tick.workers)
  if (tick.source !== undefined) book.setSource(tick.source)
}
