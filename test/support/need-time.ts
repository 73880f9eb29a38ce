/** Asks the runner for more time than a file has by itself: for suites that are longer when they are told to be. */
export function needTime(needsMs: number): void {
  process.send?.({ needsMs } satisfies TimeNeeded)
}

export interface TimeNeeded {
  readonly needsMs: number
}

export function isTimeNeeded(message: unknown): message is TimeNeeded {
  return typeof message === 'object' && message !== null && 'needsMs' in message && typeof message.needsMs === 'number'
}
