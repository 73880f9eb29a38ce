import type { Clock } from '../clock.ts'

/** What `promise` becomes or, once `ms` have passed or the function given to `onHurry` was called, what `late` makes of it. */
export function within<Value>(
  clock: Clock,
  promise: Promise<Value>,
  ms: number,
  late: () => Promise<Value>,
  onHurry?: (hurry: () => void) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const giveUp = () => {
      if (isOver) return
      end()
      resolve(late())
    }
    const cancel = clock.after(ms, giveUp)
    const end = () => {
      isOver = true
      cancel()
    }
    onHurry?.(giveUp)
    promise.then(
      value => {
        end()
        resolve(value)
      },
      error => {
        end()
        reject(error)
      },
    )
  })
}
