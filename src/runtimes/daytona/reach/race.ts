import type { Clock } from '../../../clock.ts'
import type { Transport } from '../options.ts'

/** One of the ways that are tried. */
export interface Runner<Prize> {
  readonly prize: Promise<Prize>
  /** Ends what lost. */
  lose(): void
}

export interface Field {
  /** At least one; the favourite first. */
  readonly transports: readonly Transport[]
  /** How long the favourite runs alone; it also is joined when it fails. 0: all start at once. */
  readonly headStartMs: number
}

/** The first to get there; the others lose. Rejects, when all have failed, with an `AggregateError` of why, in the field's order. */
export function race<Prize>(
  field: Field,
  start: (transport: Transport) => Runner<Prize>,
  clock: Clock,
): Promise<{ readonly transport: Transport; readonly prize: Prize }> {
  const waiting = [...field.transports]
  const running = new Map<Transport, Runner<Prize>>()
  return new Promise((resolve, reject) => {
    const failures = new Map<Transport, unknown>()
    const cancel = field.headStartMs > 0 ? clock.after(field.headStartMs, startAll) : () => {}

    function startNext(): void {
      const transport = waiting.shift()
      if (transport === undefined) return
      const runner = start(transport)
      running.set(transport, runner)
      runner.prize.then(
        prize => {
          cancel()
          waiting.length = 0
          running.delete(transport)
          for (const other of running.values()) other.lose()
          running.clear()
          resolve({ transport, prize })
        },
        error => {
          failures.set(transport, error)
          if (failures.size === field.transports.length) {
            cancel()
            reject(new AggregateError(field.transports.map(each => failures.get(each))))
          } else startAll()
        },
      )
    }

    function startAll(): void {
      while (waiting.length > 0) startNext()
    }

    startNext()
    if (field.headStartMs === 0) startAll()
  })
}
