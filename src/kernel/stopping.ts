import { type ErrorData, toErrorData } from '../errors.ts'
import type { Cell } from './cell.ts'
import { stopTooSlow } from './errors.ts'

/** Runs the actor's `onStop` and calls `done` when it has finished, failed or used up its time. */
export function runOnStop(cell: Cell, done: () => void): void {
  const { actor, state, context, kernel } = cell
  if (actor.onStop === undefined || state === undefined) {
    done()
    return
  }
  const report = (error: ErrorData) => kernel.failed({ address: cell.address, error, directive: 'stop-failed' })
  let cleanup: void | Promise<void>
  try {
    cleanup = actor.onStop(state.value, context)
  } catch (thrown) {
    report(toErrorData(thrown))
    cleanup = undefined
  }
  if (!(cleanup instanceof Promise)) {
    done()
    return
  }
  let waiting = true
  const settle = (error?: ErrorData) => {
    if (!waiting) return
    waiting = false
    cancel()
    if (error !== undefined) report(error)
    done()
  }
  const deadlineMs = kernel.stopDeadlineMs
  const cancel = kernel.clock.after(deadlineMs, () => settle(stopTooSlow(cell.address, deadlineMs)))
  cleanup.then(
    () => settle(),
    thrown => settle(toErrorData(thrown)),
  )
}

/** Stops the children one after the other, the youngest first, and calls `done` when the last has stopped. */
export function stopChildren(cell: Cell, done: () => void): void {
  const order = cell.ties === undefined ? [] : [...cell.ties.children.values()].reverse()
  let index = 0
  const next = (): void => {
    for (let child = order[index]; child !== undefined; child = order[index]) {
      index += 1
      // Twice, so that thousands of children that stop at once do not nest as many calls.
      child.stop({ type: 'stopped' })
      if (child.phase === 'stopped') continue
      child.stop({ type: 'stopped' }, next)
      return
    }
    done()
  }
  next()
}
