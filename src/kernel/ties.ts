import type { CancelTimer } from '../clock.ts'
import type { Cell } from './cell.ts'
import type { Reference, Watcher } from './reference.ts'
import { RestartHistory } from './supervision.ts'

/** What binds an actor to others and to the clock. An actor of a short life has none of it, and each of these costs as much as a message. */
export class Ties {
  readonly children = new Map<string, Cell>()
  readonly watchers = new Set<Watcher>()
  readonly watching = new Map<string, Reference>()
  readonly timers = new Set<CancelTimer>()
  readonly restarts = new RestartHistory()
  readonly onStopped: (() => void)[] = []
}
