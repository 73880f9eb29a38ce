import type { Ask } from './ask.ts'

const FIRST_SIZE = 1_024

/**
 * The open questions that other nodes know, by id: from -1 down, and round again after 2^31 of them. A table rather than a
 * `Map`: each time a map is rebuilt its old table points to the new one, and once one of them is old the garbage collector
 * keeps every question since, answered or not.
 */
export class Questions {
  private table: (Ask | undefined)[] = new Array(FIRST_SIZE).fill(undefined)
  private lastId = 0
  private open = 0

  /** The id that `ask` is open under from now on. */
  add(ask: Ask): number {
    if (this.open * 2 >= this.table.length) this.grow()
    const mask = this.table.length - 1
    do this.lastId = this.lastId === -0x7fff_ffff ? -1 : this.lastId - 1
    while (this.table[-this.lastId & mask] !== undefined)
    this.table[-this.lastId & mask] = ask
    this.open += 1
    return this.lastId
  }

  get(id: number): Ask | undefined {
    const ask = this.table[-id & (this.table.length - 1)]
    return ask?.id === id ? ask : undefined
  }

  delete(id: number): void {
    if (this.get(id) === undefined) return
    this.table[-id & (this.table.length - 1)] = undefined
    this.open -= 1
  }

  /** Those that left by `connection`. */
  via(connection: object): Ask[] {
    return this.table.flatMap(ask => (ask?.via === connection ? ask : []))
  }

  private grow(): void {
    const asks = this.table
    this.table = new Array(asks.length * 2).fill(undefined)
    // Two that had different places in the smaller table have different places in the larger one.
    for (const ask of asks) if (ask !== undefined) this.table[-ask.id & (this.table.length - 1)] = ask
  }
}
