/** Who works for a job now, and who has died in doing so: told by one, looked at by others. */
export interface Desks<Desk> {
  readonly all: readonly Desk[]
  /** Owners whose sandboxes may still exist. */
  readonly dead: Set<string>
  set(desks: readonly Desk[]): void
  onChange(listener: () => void): void
}

export function makeDesks<Desk>(): Desks<Desk> {
  const listeners: (() => void)[] = []
  let all: readonly Desk[] = []
  return {
    get all() {
      return all
    },
    dead: new Set(),
    set(desks) {
      all = desks
      for (const listener of listeners) listener()
    },
    onChange: listener => void listeners.push(listener),
  }
}
