/** A power of two. Most mailboxes never hold more. */
const FIRST_SLOTS = 4

/** A queue in a ring that doubles as it fills and keeps no reference to what was taken out. It sets no bound: its users do. */
export class Ring<Item> {
  size = 0
  private slots: (Item | undefined)[] = new Array(FIRST_SLOTS)
  private mask = FIRST_SLOTS - 1
  private head = 0

  push(item: Item): void {
    if (this.size > this.mask) this.grow()
    this.slots[(this.head + this.size) & this.mask] = item
    this.size += 1
  }

  /** The oldest item; undefined when empty, so look at `size` first where undefined may be an item. */
  shift(): Item | undefined {
    if (this.size === 0) return undefined
    const item = this.slots[this.head]
    this.slots[this.head] = undefined
    this.head = (this.head + 1) & this.mask
    this.size -= 1
    return item
  }

  private grow(): void {
    const larger: (Item | undefined)[] = new Array(this.slots.length * 2)
    for (let index = 0; index < this.size; index += 1) larger[index] = this.slots[(this.head + index) & this.mask]
    this.slots = larger
    this.mask = larger.length - 1
    this.head = 0
  }
}
